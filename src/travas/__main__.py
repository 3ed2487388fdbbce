"""`python -m travas` is `travas`."""

from .cli import main

if __name__ == "__main__":
    main()
