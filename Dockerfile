# The command line, from the wheel of `make wheel`: make image. How it is run: docs/container.md.
ARG PYTHON=3.11
FROM python:${PYTHON}-slim-bookworm AS build
COPY dist/*.whl /wheels/
# All extras but models (pm4py is AGPL), spark (needs Java) and web (for the machine on which it runs).
RUN python -m venv /opt/travas \
    && /opt/travas/bin/pip install --no-cache-dir --no-compile \
        "$(ls /wheels/*.whl)[pandas,metrics,plot,compression,sql]"

FROM python:${PYTHON}-slim-bookworm
LABEL org.opencontainers.image.title="travas" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /opt/travas /opt/travas
RUN useradd --uid 10001 --user-group --home-dir /data --no-create-home --shell /usr/sbin/nologin travas \
    && install --directory --owner travas --group travas --mode 0700 /data
ENV PATH=/opt/travas/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    HOME=/data \
    TRAVAS_LEDGER=/data/ledger.db \
    MPLCONFIGDIR=/tmp/matplotlib
USER 10001:10001
WORKDIR /data
VOLUME ["/data"]
ENTRYPOINT ["travas"]
