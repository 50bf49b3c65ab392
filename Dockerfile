# syntax=docker/dockerfile:1

# The operator's image: Node and the bundled commands. No shell, no package manager, nothing that is written to, for amd64 and arm64.
# Both bases can be replaced; a release is built from their digests:
#   docker build --build-arg RUNTIME_IMAGE=registry.example.com/base/cc@sha256:… .
# The first has Node in the version that package.json pins; the second has glibc and libstdc++.
ARG BUILD_IMAGE=node:26.10.0-trixie
ARG RUNTIME_IMAGE=gcr.io/distroless/cc-debian13:nonroot

FROM ${BUILD_IMAGE} AS bundle
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tools/image/bundle.ts tools/image/
COPY src src
RUN node tools/image/bundle.ts .

FROM ${BUILD_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json LICENSE THIRD-PARTY-NOTICES.md ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund
# Of what was bundled names, versions and licences stay, and package-lock.json: for whoever lists what is in here. undici is loaded as it is.
RUN find node_modules ! -type d \( -name '*.ts' -o ! -path '*/undici/lib/*' ! -name package.json ! -iname '*licen[cs]e*' ! -iname 'notice*' \) -delete
RUN find node_modules -type d -empty -delete
COPY --from=bundle /app/dist dist
RUN mkdir compile-cache && chmod 777 compile-cache
# What Node compiles now, as the user that it is for, it need not compile at each start.
ENV NODE_ENV=production NODE_COMPILE_CACHE=/app/compile-cache
USER 65532:65532
RUN ["/usr/local/bin/node", "--optimize-for-size", "/app/dist/main.js", "controller", "--help"]
RUN ["/usr/local/bin/node", "--optimize-for-size", "/app/dist/main.js", "crds"]
USER 0
RUN chown -R 0:0 . && chmod -R a+rX,go-w .

FROM ${BUILD_IMAGE} AS libraries
WORKDIR /libraries
# The one library that Node needs and that the runtime image lacks.
RUN cp -L "$(ldconfig -p | sed -n 's|.*libatomic\.so\.1 .*=> ||p' | head -n 1)" .

FROM ${RUNTIME_IMAGE}
COPY --from=libraries /libraries/ /usr/lib/
COPY --from=build /usr/local/bin/node /usr/local/bin/node
COPY --from=build /app /app
WORKDIR /app
# Each thread of the C library's allocator keeps memory for itself: with many, some 20 MB that nobody uses. And what was a page of a
# list is given back to the system when it is read, which takes 10 MB less with 20,000 objects; so is what V8 compiled with, which
# takes 32 KB at a time, and leaves holes of some 3 MB otherwise. Names are looked up in half of Node's threads, and one that nobody
# answers for keeps its thread for ten seconds: 64 take 0.7 MB more than four.
ENV UV_THREADPOOL_SIZE=64 NODE_ENV=production NODE_COMPILE_CACHE=/app/compile-cache MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=32768 MALLOC_TRIM_THRESHOLD_=65536
# By number, so that runAsNonRoot can be checked.
USER 65532:65532
EXPOSE 8080 8081
# With --optimize-for-size V8 collects garbage earlier and gives pages back: with 20,000 objects that takes 27 MB less at rest and some
# 30 at the most, for a quarter to two thirds more CPU while all are looked at for the first time (docs/performance.md).
ENTRYPOINT ["/usr/local/bin/node", "--optimize-for-size", "/app/dist/main.js"]
CMD ["controller"]
