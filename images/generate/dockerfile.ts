/** A Dockerfile from a recipe. Pure: the same recipe always gives the same text. */
import type { RootFile } from '@slurm-operator/sandbox';
import type { ImageRecipe } from '../src/recipe.ts';

const scripts = '/usr/libexec/slurm-operator/';

export function dockerfile(recipe: ImageRecipe, version: string): string {
  const suite = recipe.suite(version);
  const { config } = recipe;
  const build = `docker build --file images/generated/${recipe.name}-${version}/Dockerfile --tag slurm-operator/${recipe.name}:${version} images`;
  const blocks = [
    `# ${recipe.about}\n# Generated from images/src/recipes by \`make generate\`; do not edit.\n# ${build}`,
    `ARG BASE=debian:${suite}-slim\nFROM \${BASE}`,
    run([...accounts(recipe), ...install(recipe, version)]),
    recipe.files
      .filter((file) => file.directory !== true)
      .map(copy)
      .join('\n'),
    run([...directories(recipe), ...(recipe.commands ?? []).map(shell), ...removals(recipe)]),
    Object.entries(config.env ?? {})
      .map(([name, value]) => `ENV ${name}=${JSON.stringify(value)}`)
      .join('\n'),
    (config.ports ?? []).map((port) => `EXPOSE ${port}`).join('\n'),
    config.user === undefined ? '' : `USER ${config.user}`,
    config.entrypoint === undefined ? '' : `ENTRYPOINT ${JSON.stringify(config.entrypoint)}`,
    config.command === undefined ? '' : `CMD ${JSON.stringify(config.command)}`,
  ];
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`;
}

function run(steps: readonly string[]): string {
  return steps.length === 0 ? '' : `RUN set -eu; \\\n    ${steps.join('; \\\n    ')}`;
}

function accounts(recipe: ImageRecipe): string[] {
  return recipe.accounts.flatMap(
    ({ name, uid, gid, home = '/nonexistent', shell: program = '/usr/sbin/nologin' }) => [
      `groupadd --gid ${gid} ${name}`,
      `useradd --uid ${uid} --gid ${gid} --no-create-home --home-dir ${home} --shell ${program} ${name}`,
      ...(home === '/nonexistent' ? [] : [`install -d -m 0755 -o ${uid} -g ${gid} ${home}`]),
    ],
  );
}

function install(recipe: ImageRecipe, version: string): string[] {
  const also = recipe.alsoFrom?.(version) ?? [];
  const options = '-o Acquire::Check-Valid-Until=false';
  return [
    // Another release serves only what this one lacks.
    ...also.flatMap((other) => [
      // Beside the base image's own archive, and not in its lines: those of updates and security have no such release.
      `sed '/^$/q; s/^Suites: .*/Suites: ${other}/' /etc/apt/sources.list.d/debian.sources > /etc/apt/sources.list.d/${other}.sources`,
      `printf '%s\\n' 'Package: *' 'Pin: release n=${other}' 'Pin-Priority: 100' > /etc/apt/preferences.d/${other}`,
    ]),
    "printf '%s\\n' '#!/bin/sh' 'exit 101' > /usr/sbin/policy-rc.d",
    'chmod 0755 /usr/sbin/policy-rc.d',
    ...(recipe.answers ?? []).map((answer) => `echo ${quote(answer)} | debconf-set-selections`),
    `apt-get update ${options}`,
    `DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends \\\n      ${recipe.packages.join(' \\\n      ')}`,
    'rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/log/*.log /var/log/apt /usr/sbin/policy-rc.d /etc/ssh/ssh_host_* /etc/munge/munge.key',
    ': > /etc/machine-id',
  ];
}

function copy(file: RootFile): string {
  if (!file.path.startsWith(scripts))
    throw new Error(`${file.path} is in a recipe but not in images/files: Docker could not copy it.`);
  const name = file.path.slice(scripts.length);
  return `COPY --chmod=0${(file.mode ?? 0o644).toString(8)} files/${name} ${file.path}`;
}

function directories(recipe: ImageRecipe): string[] {
  return recipe.files
    .filter((file) => file.directory === true)
    .map(
      ({ path, mode = 0o755, uid = 0, gid = 0 }) =>
        `install -d -m 0${mode.toString(8)} -o ${uid} -g ${gid} ${path}`,
    );
}

function removals(recipe: ImageRecipe): string[] {
  return (recipe.remove ?? []).map((pattern) => {
    const [start = '', name] = pattern.split('/**/');
    return name === undefined
      ? `rm -rf ${pattern}`
      : `find ${start} -depth -name ${quote(name)} -exec rm -rf {} +`;
  });
}

function shell(command: readonly string[]): string {
  return command.map(quote).join(' ');
}

function quote(word: string): string {
  return /^[A-Za-z0-9_./=:-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
