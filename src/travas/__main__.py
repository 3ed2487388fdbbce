"""`python -m travas` is `travas`. Only the handling of Ctrl-C is imported before the rest."""

from __future__ import annotations

from .cli.signals import handled


def main() -> None:
    """Run the command line: an interrupt is one line and exit code 130, also while the program is being imported."""
    with handled():
        from .cli.main import main as run

        run()


if __name__ == "__main__":
    main()
