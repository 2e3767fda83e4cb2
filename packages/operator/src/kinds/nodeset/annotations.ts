/** Notes of ours on pods and claims that upstream does not have: memory that survives the operator. */

/** On a pod that we cordoned: why. A cordon without it is a person's. */
export const cordonCauseAnnotation = 'nodeset.slinky.slurm.net/pod-cordon-cause';
/** On a DaemonSet-mode pod: the machine it was made for, known before it is scheduled. */
export const targetNodeAnnotation = 'nodeset.slinky.slurm.net/target-node';
/** On a claim: the slot that it belongs to. */
export const claimSlotAnnotation = 'nodeset.slinky.slurm.net/claim-slot';
/** On a claim: its slot was scaled in while the policy said Delete. */
export const claimScaledInAnnotation = 'nodeset.slinky.slurm.net/scaled-in';
/** On a pod: where its slurmd looks for slurmctld when it starts. */
export const confServerAnnotation = 'nodeset.slinky.slurm.net/conf-server';

/** On a pod that was created for a node that Slurm has, or may have: a job may wait for it. */
export const wakeUpAnnotation = 'nodeset.slinky.slurm.net/wake-up';
