"""What a log without a name is known by: a keyed digest of its variants and counts."""

from __future__ import annotations

from ..model.variants import CODE, Activity, Variants


def fingerprint(variants: Variants, key: bytes) -> str:
    """HMAC-SHA256 of the activities that occur and of all traces with their counts, each in the order of its bytes.

    Two logs of the same traces and counts have one fingerprint, however activities are coded and cases ordered. Texts
    and traces are preceded by their lengths, so that no two different logs are written alike. Column names do not enter.
    """
    import hashlib
    import hmac

    import numpy as np

    codes = np.frombuffer(b"".join(variants.keys), CODE)
    names = {code: _encoded(variants.alphabet[code]) for code in np.unique(codes).tolist()}
    ranks = np.zeros(max(names, default=0) + 1, dtype="<u4")
    for rank, code in enumerate(sorted(names, key=names.__getitem__)):
        ranks[code] = rank
    recoded, counts = ranks[codes].tobytes(), variants.counts.astype("<i8").tobytes()
    lengths = [len(trace) for trace in variants.keys]
    ends = np.cumsum(lengths).tolist()
    lines = [
        length.to_bytes(8, "little") + recoded[end - length : end] + counts[8 * place : 8 * place + 8]
        for place, (length, end) in enumerate(zip(lengths, ends, strict=True))
    ]
    lines.sort()
    digest = hmac.new(key, len(names).to_bytes(8, "little"), hashlib.sha256)
    digest.update(b"".join(sorted(names.values())))
    digest.update(b"".join(lines))
    return digest.hexdigest()


def _encoded(activity: Activity) -> bytes:
    parts = (activity,) if isinstance(activity, str) else activity
    return _sized(b"".join(_sized(part.encode()) for part in parts))


def _sized(text: bytes) -> bytes:
    return len(text).to_bytes(8, "little") + text
