/** Starts `slurm-doctor` on QuickJS, which is a megabyte where Node is 127. Nothing of Node exists here. */
import { LocalTimeFormat } from './local-time.ts';
import { slurmDoctor } from './slurm-doctor.ts';
import type { Ran } from './slurm-programs.ts';

interface QuickFile {
  readAsString(): string;
  puts(text: string): void;
  flush(): void;
  close(): void;
  fileno(): number;
  seek(offset: number, whence: number): void;
}

/** The modules of QuickJS, which `qjs --std` makes global. */
declare const std: {
  readonly in: QuickFile;
  readonly out: QuickFile;
  readonly err: QuickFile;
  readonly SEEK_SET: number;
  exit(code: number): never;
  fdopen(fd: number, mode: string): QuickFile;
  tmpfile(): QuickFile;
  getenv(name: string): string | undefined;
};
declare const os: {
  pipe(): [read: number, write: number];
  close(fd: number): void;
  exec(
    command: readonly string[],
    options: { block: boolean; usePath: boolean; stdout: number; stderr: number },
  ): number;
  waitpid(pid: number, options: number): [pid: number, status: number];
  isatty(fd: number): boolean;
  ttyGetWinSize(fd: number): [columns: number, rows: number] | null;
};
declare const scriptArgs: readonly string[];

/** Slurm's programs wait much longer for a slurmctld that is away. */
const limit = ['timeout', '30'];

function start(command: readonly string[]) {
  const [read, write] = os.pipe();
  const errors = std.tmpfile();
  const pid = os.exec([...limit, ...command], {
    block: false,
    usePath: true,
    stdout: write,
    stderr: errors.fileno(),
  });
  os.close(write);
  return { pid, output: std.fdopen(read, 'r'), errors };
}

function end({ pid, output, errors }: ReturnType<typeof start>): Ran {
  const out = output.readAsString();
  output.close();
  const [, status] = os.waitpid(pid, 0);
  errors.seek(0, std.SEEK_SET);
  const err = errors.readAsString();
  errors.close();
  const late = status >> 8 === 124;
  return { ok: status === 0, out, err: late ? 'no answer within 30 seconds' : err };
}

Object.assign(globalThis, { Intl: { DateTimeFormat: LocalTimeFormat } });
const names = ['NO_COLOR', 'FORCE_COLOR', 'TERM', 'COLUMNS'];
const env = Object.fromEntries(names.map((name) => [name, std.getenv(name)]));
const { out, err, exitCode } = slurmDoctor(scriptArgs.slice(1), {
  run: (commands) => commands.map(start).map(end),
  user: end(start(['id', '-un'])).out.trim(),
  now: Date.now(),
  columns: os.ttyGetWinSize(1)?.[0] ?? (Number(env['COLUMNS']) || 120),
  isTty: os.isatty(1),
  env,
});
std.out.puts(out);
std.out.flush();
std.err.puts(err);
std.exit(exitCode);
