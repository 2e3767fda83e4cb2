/**
 * A configuration file as data: sections of settings and records that we write, and the text that the user adds.
 * A key of the user's replaces ours, and the file says so; some keys are ours alone, and some are merged.
 */
import { mergeOptions } from './options.ts';
import { topLevelSettings } from './parse.ts';
import { type ConfRecord, renderRecord, renderSetting, type Setting, setting } from './setting.ts';

export interface ConfSection {
  readonly title: string;
  readonly settings?: readonly Setting[];
  readonly records?: readonly ConfRecord[];
}

export interface ConfFile {
  readonly sections: readonly ConfSection[];
  /** Lines of the user's own, kept as written. */
  readonly extra?: string | undefined;
  /** Keys that hold options: the user's are merged with these. */
  readonly merged?: Readonly<Record<string, readonly string[]>>;
  /** Keys that the user may not set, with what to do instead. */
  readonly reserved?: Readonly<Record<string, string>>;
}

export interface RenderedConf {
  readonly text: string;
  /** What the user's lines ask for and do not get, as sentences. */
  readonly complaints: readonly string[];
}

export function renderConf(file: ConfFile): RenderedConf {
  const extra = file.extra ?? '';
  const users = topLevelSettings(extra);
  const reserved = lowerKeys(file.reserved ?? {});
  const merged = lowerKeys(file.merged ?? {});
  const complaints = [...users]
    .filter(([key]) => reserved.has(key))
    .map(
      ([key, { key: written, line }]) =>
        `line ${line} of extraConf sets ${written}, which is not used: ${reserved.get(key)}`,
    );
  const isReplaced = (key: string): boolean => {
    const lower = key.toLowerCase();
    return users.has(lower) && !reserved.has(lower) && !merged.has(lower);
  };

  const lines: string[] = [];
  for (const { title, settings = [], records = [] } of file.sections) {
    if (settings.length === 0 && records.length === 0) continue;
    lines.push('#', `### ${title} ###`);
    for (const one of settings)
      lines.push(isReplaced(one.key) ? `# ${one.key} is set in extraConf` : renderSetting(one));
    for (const record of records) lines.push(renderRecord(record));
  }
  if (extra.trim() !== '') lines.push('#', '### EXTRA CONFIG ###', extra.trimEnd());

  // After the user's lines, because the last one counts.
  const last = [
    ...[...merged].flatMap(([key, [written, options]]) => {
      const user = users.get(key);
      return user === undefined ? [] : [setting(written, mergeOptions(user.value, options))];
    }),
    ...file.sections
      .flatMap(({ settings = [] }) => settings)
      .filter(({ key }) => reserved.has(key.toLowerCase()) && users.has(key.toLowerCase())),
  ];
  if (last.length > 0) lines.push('#', '### MERGED CONFIG ###', ...last.map(renderSetting));
  return { text: `${lines.join('\n')}\n`, complaints };
}

function lowerKeys<T>(record: Readonly<Record<string, T>>): Map<string, T extends string ? T : [string, T]> {
  return new Map(
    Object.entries(record).map(([key, value]) => [
      key.toLowerCase(),
      (typeof value === 'string' ? value : [key, value]) as T extends string ? T : [string, T],
    ]),
  );
}
