/** What can go wrong in this package. Each class carries a stable `code`; each message says what to do. */

export class SandboxError extends Error {
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/** A program ended badly. Keeps the end of what it said, because that is where the reason stands. */
export class CommandError extends SandboxError {
  readonly exitCode: number | null;
  readonly stderr: string;

  constructor(command: readonly string[], outcome: string, exitCode: number | null, said: string) {
    const tail = said.trimEnd().split('\n').slice(-15).join('\n');
    super('COMMAND_FAILED', `${command.join(' ')}: ${outcome}${tail === '' ? '' : `\n${tail}`}`);
    this.exitCode = exitCode;
    this.stderr = said;
  }
}

/** Something of the machine is missing that only its owner can add. */
export class PrerequisiteError extends SandboxError {
  constructor(message: string, options?: ErrorOptions) {
    super('PREREQUISITE_MISSING', message, options);
  }
}

/** A caller asked for something impossible; the message names the field and the value. */
export class InvalidRequestError extends SandboxError {
  constructor(message: string, options?: ErrorOptions) {
    super('INVALID_REQUEST', message, options);
  }
}

/** A wait ended without what it waited for. */
export class TimeoutError extends SandboxError {
  constructor(message: string, options?: ErrorOptions) {
    super('TIMEOUT', message, options);
  }
}

/** A tar that is not the image it should be. */
export class ImageError extends SandboxError {
  constructor(message: string, options?: ErrorOptions) {
    super('BAD_IMAGE', message, options);
  }
}

/** Says in one sentence that `what` needs root, unless this process is root. */
export function requireRoot(what: string, user = process.geteuid?.()): void {
  if (user === 0) return;
  throw new PrerequisiteError(
    `${what} needs root (namespaces, mounts and file owners): run it again as root or with sudo.`,
  );
}
