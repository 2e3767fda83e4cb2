/** What an image says about how its process runs. */
export interface ImageConfig {
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** A name, `uid` or `uid:gid`. Default: root. */
  readonly user?: string;
  readonly workingDirectory?: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** For example `6817/tcp`. */
  readonly ports?: readonly string[];
}

/** The same in the words of the image format. */
export interface FormatConfig {
  readonly Entrypoint?: readonly string[] | null;
  readonly Cmd?: readonly string[] | null;
  readonly Env?: readonly string[] | null;
  readonly User?: string;
  readonly WorkingDir?: string;
  readonly Labels?: Readonly<Record<string, string>> | null;
  readonly ExposedPorts?: Readonly<Record<string, object>> | null;
}

export function toFormat(config: ImageConfig): FormatConfig {
  return {
    ...(config.entrypoint && { Entrypoint: config.entrypoint }),
    ...(config.command && { Cmd: config.command }),
    ...(config.env && { Env: Object.entries(config.env).map(([name, value]) => `${name}=${value}`) }),
    ...(config.user && { User: config.user }),
    ...(config.workingDirectory && { WorkingDir: config.workingDirectory }),
    ...(config.labels && { Labels: config.labels }),
    ...(config.ports && { ExposedPorts: Object.fromEntries(config.ports.map((port) => [port, {}])) }),
  };
}

export function fromFormat(format: FormatConfig): ImageConfig {
  return {
    ...(format.Entrypoint && { entrypoint: format.Entrypoint }),
    ...(format.Cmd && { command: format.Cmd }),
    ...(format.Env && { env: environment(format.Env) }),
    ...(format.User && { user: format.User }),
    ...(format.WorkingDir && { workingDirectory: format.WorkingDir }),
    ...(format.Labels && { labels: format.Labels }),
    ...(format.ExposedPorts && { ports: Object.keys(format.ExposedPorts) }),
  };
}

function environment(list: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    list.map((entry) => {
      const [name = '', ...value] = entry.split('=');
      return [name, value.join('=')];
    }),
  );
}
