"""Whether the public logs of the paper and of the benchmarks are there, as published: make logs.

They are looked for in TRAVAS_DATA, by default in ../shared/data. A log that is not there is downloaded from its DOI and
saved under this name.
"""

from __future__ import annotations

import sys

from harness import DATA

from travas import read

# file: DOI, cases, events
LOGS = {
    "bpic2013-incidents.xes.gz": ("10.4121/uuid:500573e6-accc-4b0c-9576-aa5468b10cee", 7_554, 65_533),
    "sepsis.xes.gz": ("10.4121/uuid:915d2bfb-7e84-49ad-a286-dc35f063a460", 1_050, 15_214),
    "bpic2011-hospital.xes.gz": ("10.4121/uuid:d9769f3d-0ab0-4fb8-803b-0d1120ffcf54", 1_143, 150_291),
    "bpic2012.xes.gz": ("10.4121/uuid:3926db30-f712-4394-aebc-75976070e91f", 13_087, 262_200),
    "bpic2013-closed-problems.xes.gz": ("10.4121/uuid:c2c3b154-ab26-4b31-a0e8-8f2350ddac11", 1_487, 6_660),
    "bpic2014-filtered.xes.gz": ("10.4121/uuid:c3e5d162-0cfd-4bb0-bd82-af5268819c35", 41_353, 369_485),
    "bpic2015-1.xes.gz": ("10.4121/uuid:31a308ef-c844-48da-948c-305d167a0ec1", 1_199, 52_217),
    "bpic2015-3.xes.gz": ("10.4121/uuid:31a308ef-c844-48da-948c-305d167a0ec1", 1_409, 59_681),
    "bpic2015-5.xes.gz": ("10.4121/uuid:31a308ef-c844-48da-948c-305d167a0ec1", 1_156, 59_083),
    "bpic2017-w.csv.gz": ("10.4121/uuid:5f3067df-f10b-45da-b98b-86ae4c7a310b", 30_276, 240_854),
    "bpic2020-domestic-declarations.xes.gz": ("10.4121/uuid:52fb97d4-4588-43c9-9d04-3604d4613b51", 10_500, 56_437),
    "bpic2020-prepaid-travel-cost.xes.gz": ("10.4121/uuid:52fb97d4-4588-43c9-9d04-3604d4613b51", 2_099, 18_246),
    "bpic2020-request-for-payment.xes.gz": ("10.4121/uuid:52fb97d4-4588-43c9-9d04-3604d4613b51", 6_886, 36_796),
    "hospital-billing.csv.gz": ("10.4121/uuid:76c46b83-c930-4798-a1c9-4be94dfeb741", 100_000, 451_359),
    "receipt.xes.gz": ("10.4121/uuid:a07386a5-7be3-4367-9535-70bc9e77dbe6", 1_434, 8_577),
    "road-traffic-fines.xes.gz": ("10.4121/uuid:270fd440-1057-4fb9-89a9-b699b47990f5", 150_370, 561_470),
}


def problem(name: str) -> str:
    """What is wrong with a log; empty if it is the published one."""
    doi, *expected = LOGS[name]
    if not (DATA / name).exists():
        return f"not in {DATA}; download it: https://doi.org/{doi}"
    found = read(DATA / name).summary()
    if [found.cases, found.events] != expected:
        return f"{found.cases:,} cases and {found.events:,} events instead of {expected[0]:,} and {expected[1]:,}"
    return ""


def main() -> int:
    """Check the named logs, or all; exit code 1 if one is missing or another one."""
    found = {name: problem(name) for name in sys.argv[1:] or LOGS}
    for name, why in found.items():
        print(f"{name:40} {why or 'as published'}")
    return 1 if any(found.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
