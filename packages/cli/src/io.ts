/** What a command sees of the world around the process; tests give their own. */
import { createInterface } from 'node:readline/promises';

export interface Io {
  /** Answers. */
  readonly out: (text: string) => void;
  /** Clears the screen before it is drawn again. */
  readonly clear: () => void;
  /** Progress and errors. */
  readonly err: (text: string) => void;
  /** Standard output is a terminal. */
  readonly isTty: boolean;
  /** Standard input is one too, so a question can be asked. */
  readonly canAsk: boolean;
  readonly columns: number;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now: () => number;
  readonly timeZone: string;
  readonly ask: (question: string) => Promise<string>;
  readonly readStdin: () => Promise<string>;
}

export function processIo(): Io {
  // A reader that went away (head, less) is no error.
  process.stdout.on('error', () => process.exit(0));
  return {
    out: (text) => process.stdout.write(text),
    clear: () => void process.stdout.write('\u001b[H\u001b[J'),
    err: (text) => process.stderr.write(text),
    isTty: process.stdout.isTTY,
    canAsk: process.stdin.isTTY && process.stderr.isTTY,
    columns: process.stdout.columns || Number(process.env['COLUMNS']) || 120,
    env: process.env,
    now: () => Date.now(),
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    async ask(question) {
      const lines = createInterface({ input: process.stdin, output: process.stderr });
      try {
        return await lines.question(question);
      } finally {
        lines.close();
      }
    },
    async readStdin() {
      const chunks: Buffer[] = [];
      for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
      return Buffer.concat(chunks).toString('utf8');
    },
  };
}
