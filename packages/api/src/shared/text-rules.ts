/**
 * Rules for text that ends up in a Slurm file or on a Slurm command line: it must stay on its line and inside
 * its value. The renderer checks again; these rules reject bad input at admission.
 */
import type { Rule } from '../schema/fields.ts';

/** One line: no control character, and no backslash at the end, which would swallow the next line. */
export const oneLine = (field: string, instead: string): Rule => ({
  rule: String.raw`!self.matches('[\\x00-\\x08\\x0a-\\x1f\\x7f]') && !self.endsWith('\\')`,
  message: `${field} must be one line without control characters and must not end in a backslash: ${instead}`,
});

/** A host name or address: nothing that could end the value or begin another. */
export const hostName = (field: string): Rule => ({
  rule: "self.matches('^[A-Za-z0-9]([A-Za-z0-9._:-]*[A-Za-z0-9])?$')",
  message: `${field} must be a host name or an IP address, such as db.example.com or 10.0.0.7`,
});

/** A duration as Go and Kubernetes write it. */
export const goDuration = String.raw`^([0-9]+(\\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`;

/** The name becomes that of Services and of label values, so it must be a DNS label that begins with a letter. */
export const nameRules = (kind: string, longest: number, because: string): readonly Rule[] => [
  {
    rule: "self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
    message: `the name of ${article(kind)} becomes the name of a Service: begin with a lower-case letter and use only lower-case letters, digits and dashes`,
  },
  {
    rule: `self.metadata.name.size() <= ${longest}`,
    message: `the name of ${article(kind)} may have at most ${longest} characters, because ${because}`,
  },
];

const article = (kind: string): string => (/^[AEIOU]/.test(kind) ? `an ${kind}` : `a ${kind}`);
