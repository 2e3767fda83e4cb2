/** The labels of everything we make. Selectors use name and instance only: those never change. */
import { app, type Component, component, label } from '@slurm-operator/api';

export const selectorLabels = (of: Component, instance: string): Record<string, string> => ({
  [label.name]: app[of],
  [label.instance]: instance,
});

export const objectLabels = (of: Component, instance: string, cluster: string): Record<string, string> => ({
  ...selectorLabels(of, instance),
  [label.component]: component[of],
  [label.partOf]: 'slurm',
  [label.managedBy]: 'slurm-operator',
  [label.cluster]: cluster,
});
