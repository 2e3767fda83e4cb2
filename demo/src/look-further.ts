import type { WaitingLine } from './waiting/waiting-line.ts';

/** The command that shows more of what is waited for, with the kubectl of this cluster. */
export const lookFurther =
  (kubectl: string) =>
  ({ subject, namespace }: WaitingLine): string => {
    const [kind = '', name] = subject.split(' ');
    if (kind === 'API' || name === undefined) return `${kubectl} cluster-info`;
    const place = namespace === '' ? '' : ` --namespace ${namespace}`;
    return `${kubectl}${place} describe ${kind.toLowerCase()} ${name}`;
  };
