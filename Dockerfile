# The web app and the command line, from the wheel of `make wheel`: make image. How it is run: docs/container.md.
ARG PYTHON=3.11
FROM python:${PYTHON}-slim-bookworm AS build
COPY dist/*.whl /wheels/
# All extras but models (pm4py is AGPL) and spark (needs Java).
RUN python -m venv /opt/travas \
    && /opt/travas/bin/pip install --no-cache-dir --no-compile \
        "$(ls /wheels/*.whl)[pandas,metrics,plot,web,excel,compression,sql]"

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
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8080/health', timeout=4)"]
ENTRYPOINT ["travas"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8080", "--no-open"]
