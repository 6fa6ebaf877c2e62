# What node:20-bookworm-slim and node:20-bookworm of Docker Hub are, as far as our image needs it: Debian's release, the Node and npm of
# this machine, how this machine reaches npm's registry, and the binding of SQLite that there comes from its makers.
FROM localhost/stageplane-stand-in/debian:bookworm AS slim
COPY node /usr/local/bin/node

FROM slim AS full
COPY npm /usr/local/lib/node_modules/npm
COPY etc /usr/local/etc
COPY prebuilds /usr/local/share/prebuilds
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm \
 && ln -s ../lib/node_modules/npm/bin/npx-cli.js /usr/local/bin/npx
ENV npm_config_better_sqlite3_local_prebuilds=/usr/local/share/prebuilds
