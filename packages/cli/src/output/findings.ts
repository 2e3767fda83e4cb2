/** A diagnosis as text: cause first, why, what to do, and what follows from it. */
import { type Diagnosis, type Finding, quote, type Severity } from '@slurm-operator/advice';
import { type Paint, type Tone, wrap } from './style.ts';

const mark: Readonly<Record<Severity, readonly [string, Tone]>> = {
  error: ['✖', 'bad'],
  warning: ['!', 'warning'],
  info: ['·', 'quiet'],
};

const indent = 6;
const shownConsequences = 4;

/** `namespace`: where the commands need it to work as they are. */
export function findingsText(
  findings: readonly Finding[],
  paint: Paint,
  columns: number,
  namespace?: string,
): string {
  const complete = (fix: string) =>
    namespace === undefined ? fix : fix.replaceAll('kubectl slurm ', `kubectl slurm -n ${namespace} `);
  return findings
    .map((finding) => `${findingText({ ...finding, fix: finding.fix.map(complete) }, paint, columns)}\n`)
    .join('\n');
}

function findingText(finding: Finding, paint: Paint, columns: number): string {
  const [symbol, tone] = mark[finding.severity];
  const room = Math.max(30, Math.min(columns, 110) - indent);
  const lines = wrap(finding.says, room);
  const head = `${paint(tone, symbol)} ${paint('quiet', finding.rule.padEnd(3))} ${lines[0] ?? ''}`;
  const below = [
    ...lines.slice(1),
    ...finding.because.flatMap((fact) => wrap(fact, room).map((line) => paint('quiet', line))),
  ].map((line) => ' '.repeat(indent) + line);
  const fixes = finding.fix.flatMap((fix, index) =>
    wrapCommand(fix, room).map(
      (line, at) => `${index === 0 && at === 0 ? paint('good', '  Do  ') : ' '.repeat(indent)}${line}`,
    ),
  );
  const doc =
    finding.doc === undefined ? [] : [`${' '.repeat(indent)}${paint('quiet', `docs/${finding.doc}`)}`];
  return [head, ...below, ...fixes, ...doc, ...consequences(finding.consequences, paint, room)].join('\n');
}

/** A command stays on one line, so that it can be copied. */
const wrapCommand = (fix: string, room: number): readonly string[] =>
  /^(kubectl|helm) /.test(fix) ? [fix] : wrap(fix, room);

function consequences(list: readonly Finding[], paint: Paint, room: number): readonly string[] {
  const shown = list.slice(0, shownConsequences).flatMap(({ rule, says }) => {
    const [first = '', ...more] = wrap(quote(says, 200), room - 8);
    return [
      `${paint('quiet', `  ↳ ${rule.padEnd(3)}`)} ${first}`,
      ...more.map((line) => ' '.repeat(8) + line),
    ];
  });
  const rest = list.length - shownConsequences;
  return rest > 0 ? [...shown, paint('quiet', `  ↳ and ${rest} more that follow from it`)] : shown;
}

export function uncheckedText({ unchecked, failed }: Diagnosis, paint: Paint, columns: number): string {
  const broken = failed.map(
    ({ rule, why }) =>
      `${paint('quiet', `· Not checked: rule ${rule}, which failed (${why}): please report it.`)}\n`,
  );
  // Many pieces of evidence often lack for one cause: say it once.
  const byReason = Map.groupBy(unchecked, ({ why }) => why);
  const gaps = [...byReason].map(([why, mine]) => {
    const names = mine.map(({ evidence }) => words(evidence));
    const text = `Not checked: ${names.join(', ')}: ${why}`;
    return `${wrap(text, Math.min(columns, 110) - 2)
      .map((line, index) => paint('quiet', `${index === 0 ? '· ' : '  '}${line}`))
      .join('\n')}\n`;
  });
  return [...gaps, ...broken].join('');
}

/** `slurmNodes` → `Slurm nodes`. */
const words = (name: string): string =>
  name
    .replaceAll(/([A-Z])/g, (letter) => ` ${letter.toLowerCase()}`)
    .replace('slurm', 'Slurm')
    .replace('machines', 'Kubernetes nodes');
