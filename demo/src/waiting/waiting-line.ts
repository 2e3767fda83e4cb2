/** One thing that is waited for, and why it is not there yet. */
export interface WaitingLine {
  /** Kind and name, as kubectl would be asked for it. */
  readonly subject: string;
  readonly namespace: string;
  readonly why: string;
  /** It does not pass without help, as far as the cluster tells. */
  readonly isFault: boolean;
}

const longest = 600;

/** A message of any origin as the rest of one line. */
export function oneLine(text: string): string {
  const flat = text.replaceAll(/\s+/g, ' ').trim();
  return flat.length <= longest ? flat : `${flat.slice(0, longest - 1)}…`;
}

export const showLine = ({ subject, why }: WaitingLine): string => `${subject}: ${why}`;

/** The command that shows more of what is waited for, with the kubectl of this cluster. */
export const lookFurther =
  (kubectl: string) =>
  ({ subject, namespace }: WaitingLine): string => {
    const [kind = '', name] = subject.split(' ');
    if (kind === 'API' || name === undefined) return `${kubectl} cluster-info`;
    const place = namespace === '' ? '' : ` --namespace ${namespace}`;
    return `${kubectl}${place} describe ${kind.toLowerCase()} ${name}`;
  };
