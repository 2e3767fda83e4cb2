/**
 * A configuration file as data: sections of settings and records that we write, and the text that the user adds.
 * A key of the user's replaces ours, and the file says so; some keys are ours alone, and some are merged.
 */
import { parseSlurmConf, renderPairs, settingsOf, topLevelSettings } from './parse.ts';
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
  /** Key → options of it that the user may not set, with the reason. */
  readonly refusedOptions?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

export interface RenderedConf {
  readonly text: string;
  /** What the user's lines ask for and do not get, as sentences. */
  readonly complaints: readonly string[];
}

export function renderConf(file: ConfFile): RenderedConf {
  const reserved = lowerKeys(file.reserved ?? {});
  const merged = lowerKeys(file.merged ?? {});
  const allowed = withoutReserved(file.extra ?? '', reserved);
  const { text: extra, complaints: refused } = withoutOptions(allowed.text, file.refusedOptions ?? {});
  const complaints = [...allowed.complaints, ...refused];
  const users = topLevelSettings(extra);
  const isReplaced = (key: string): boolean => users.has(key.toLowerCase()) && !merged.has(key.toLowerCase());

  const lines: string[] = [];
  for (const { title, settings = [], records = [] } of file.sections) {
    if (settings.length === 0 && records.length === 0) continue;
    lines.push('#', `### ${title} ###`);
    for (const one of settings)
      lines.push(isReplaced(one.key) ? `# ${one.key} is set in extraConf` : renderSetting(one));
    for (const record of records) lines.push(renderRecord(record));
  }
  if (extra.trim() !== '') lines.push('#', '### EXTRA CONFIG ###', extra.trimEnd());

  // After the user's lines, because the last one counts; after a comment, because their last line may go on.
  const last = [...merged].flatMap(([key, [written, options]]) => {
    const user = users.get(key);
    return user === undefined ? [] : [setting(written, mergeOptions(user.value, options))];
  });
  if (last.length > 0) lines.push('#', '### MERGED CONFIG ###', ...last.map(renderSetting));
  return { text: `${lines.join('\n')}\n`, complaints };
}

/**
 * The user's lines without those that set what is ours alone. Ours would not simply win by coming last: Slurm adds up some
 * keys, so that a second SlurmctldHost is one more controller.
 */
function withoutReserved(
  extra: string,
  reserved: ReadonlyMap<string, string>,
): { readonly text: string; readonly complaints: readonly string[] } {
  const lines = extra.split('\n');
  const complaints: string[] = [];
  for (const { line, last, pairs } of parseSlurmConf(extra)) {
    const taken = settingsOf(pairs).find(({ key }) => reserved.has(key.toLowerCase()));
    if (taken === undefined) continue;
    complaints.push(
      `line ${line} of extraConf sets ${taken.key}, which is not used: ${reserved.get(taken.key.toLowerCase())}`,
    );
    for (let at = line - 1; at < last; at += 1) lines[at] = `# left out: ${lines[at]}`;
  }
  return { text: lines.join('\n'), complaints };
}

/** The user's lines without some options of a key, such as one of `CommunicationParameters=a,b`. */
function withoutOptions(
  extra: string,
  refused: NonNullable<ConfFile['refusedOptions']>,
): { readonly text: string; readonly complaints: readonly string[] } {
  const lines = extra.split('\n');
  const complaints: string[] = [];
  const byKey = new Map(Object.entries(refused).map(([key, options]) => [key.toLowerCase(), options]));
  for (const { line, last, pairs } of parseSlurmConf(extra)) {
    const changed = pairs.flatMap((pair) => {
      const options = byKey.get(pair.key.toLowerCase());
      const isRefused = (word: string) => options?.[word.trim().toLowerCase()] !== undefined;
      const words = pair.value.split(',');
      if (!words.some(isRefused)) return [pair];
      for (const word of words.filter(isRefused))
        complaints.push(
          `line ${line} of extraConf sets ${pair.key}=${word.trim()}, which is not used: ${options?.[word.trim().toLowerCase()]}`,
        );
      const kept = words.filter((word) => !isRefused(word));
      return kept.length === 0 ? [] : [{ ...pair, value: kept.join(',') }];
    });
    if (changed.length === pairs.length && changed.every((pair, at) => pair === pairs[at])) continue;
    lines[line - 1] = changed.length === 0 ? '# left out' : renderPairs(changed);
    for (let at = line; at < last; at += 1) lines[at] = '#';
  }
  return { text: lines.join('\n'), complaints };
}

function lowerKeys<T>(record: Readonly<Record<string, T>>): Map<string, T extends string ? T : [string, T]> {
  return new Map(
    Object.entries(record).map(([key, value]) => [
      key.toLowerCase(),
      (typeof value === 'string' ? value : [key, value]) as T extends string ? T : [string, T],
    ]),
  );
}

/** Values that are lists of options, `a,b=1,c`: the user's are kept as written, ours are added and win. */

/** Ours win option by option; the order is the user's, then ours. Case is the user's own: some options hold paths. */
export function mergeOptions(user: string, ours: readonly string[]): string {
  const nameOf = (option: string): string => (option.split('=', 1)[0] ?? '').trim().toLowerCase();
  const mandatory = new Set(ours.map(nameOf));
  const kept = user
    .split(',')
    .map((option) => option.trim())
    .filter((option) => option !== '' && !mandatory.has(nameOf(option)));
  return [...kept, ...ours].join(',');
}
