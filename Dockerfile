# Attention Loupe as an ordinary user on port 8501: docs/serving.md
FROM python:3.11-slim AS wheel
WORKDIR /source
COPY . .
RUN pip wheel --no-deps --wheel-dir /wheels .

FROM python:3.11-slim

# Without an NVIDIA GPU: PyTorch's own index has a build of a tenth of the size.
ARG PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu

RUN useradd --create-home --uid 1000 loupe
COPY --from=wheel /wheels /wheels
COPY requirements.txt .
RUN pip install --no-cache-dir --disable-pip-version-check --constraint requirements.txt "$(echo /wheels/*.whl)[app]"

# The code belongs to root: what serves it cannot change it. What is downloaded or uploaded lies in the user's home and in /tmp.
USER loupe
WORKDIR /home/loupe
# Freed memory is kept for the next layer instead of being fetched anew, page by page (docs/serving.md, Memory).
ENV MALLOC_MMAP_THRESHOLD_=33554432 MALLOC_TRIM_THRESHOLD_=134217728
EXPOSE 8501
HEALTHCHECK --start-period=60s CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8501/_stcore/health', timeout=5)"]
CMD ["attention-loupe", "--address", "0.0.0.0", "--port", "8501"]
