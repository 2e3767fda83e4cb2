/** The operator's Dockerfile, of the same list as our own archive. Pure: the same list always gives the same text. */
import {
  libraryPackages,
  librarySuite,
  machines,
  nodePath,
  nodeVersion,
  operatorConfig,
  operatorVersion,
} from '../src/operator/operator-files.ts';

export function operatorDockerfile(): string {
  const { env = {}, labels = {}, ports = [], user, entrypoint } = operatorConfig(operatorVersion);
  const cases = Object.entries(machines).map(
    ([architecture, { triplet, loader }]) => `${architecture}) triplet=${triplet}; loader=${loader};;`,
  );
  const libraries = Object.values(libraryPackages).flat();
  return `# The operator: the programs manager and webhook, on Node, without anything else.
# Generated from images/src/operator by \`make generate\`; do not edit.
# docker build --file images/generated/operator/Dockerfile --tag slurm-operator/operator:${operatorVersion} .
# docker buildx build --platform linux/amd64,linux/arm64 --file images/generated/operator/Dockerfile .

ARG NODE=node:${nodeVersion}-${librarySuite}-slim
FROM \${NODE} AS libraries
ARG TARGETARCH
RUN set -eu; \\
    case "$TARGETARCH" in \\
      ${cases.join(' \\\n      ')} \\
      *) echo "no recipe for $TARGETARCH" >&2; exit 1;; \\
    esac; \\
    mkdir -p /image${nodePath.slice(0, nodePath.lastIndexOf('/'))} "/image\${loader%/*}" "/image/lib/$triplet"; \\
    cp -L "$(command -v node)" /image${nodePath}; \\
    cp -L "/usr/lib/$triplet/\${loader##*/}" "/image$loader"; \\
    for library in ${libraries.join(' ')}; do \\
      cp -L "/usr/lib/$triplet/$library" "/image/lib/$triplet/$library"; \\
    done; \\
    for package in ${Object.keys(libraryPackages).join(' ')}; do \\
      mkdir -p "/image/usr/share/doc/$package"; \\
      cp -L "/usr/share/doc/$package/copyright" "/image/usr/share/doc/$package/copyright"; \\
    done; \\
    dpkg-query --show --showformat '\${Package} \${Version} \${Architecture}\\n' ${Object.keys(libraryPackages).join(' ')} > /packages

FROM \${NODE} AS programs
WORKDIR /source
COPY . .
RUN npm install --no-save --loglevel=error
COPY --from=libraries /packages /packages
RUN node images/src/operator/bundle-main.ts /image /packages

FROM scratch
COPY --from=libraries /image /
COPY --from=programs /image /
${Object.entries(env)
  .map(([name, value]) => `ENV ${name}=${JSON.stringify(value)}`)
  .join('\n')}
${Object.entries(labels)
  .map(([name, value]) => `LABEL ${name}=${JSON.stringify(value)}`)
  .join('\n')}
${ports.map((port) => `EXPOSE ${port}`).join('\n')}
USER ${user}
# Fails the build when a library is missing.
RUN ["${nodePath}", "/manager", "--help"]
ENTRYPOINT ${JSON.stringify(entrypoint)}
`;
}
