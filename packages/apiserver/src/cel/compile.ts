/** From text to something that runs: read, check against what is in scope, and keep its result type and cost. */
import { check, type Scope } from './checker.ts';
import { estimateCost } from './cost.ts';
import { CelCompileError } from './errors.ts';
import { compileExpr, type Frame, runBounded } from './evaluator.ts';
import { parse } from './parser.ts';
import type { CelType } from './types.ts';
import type { CelValue } from './values.ts';

export interface Program {
  readonly type: CelType;
  readonly cost: number;
  /** Names of the outer variables the expression uses. */
  readonly uses: ReadonlySet<string>;
  run(frame: Frame): CelValue;
}

/** Throws a CelCompileError whose message shows where and why. */
export function compile(source: string, scope: Scope): Program {
  const tree = parse(source);
  const { type, issues } = check(tree, scope);
  if (issues.length > 0) throw new CelCompileError(source, issues);
  const evaluate = compileExpr(tree);
  return {
    type,
    cost: estimateCost(tree, scope.get('self')),
    uses: namesIn(source, scope),
    run: (frame) => runBounded(evaluate, frame),
  };
}

function namesIn(source: string, scope: Scope): Set<string> {
  const words = new Set(source.match(/[A-Za-z_]\w*/g) ?? []);
  return new Set([...scope.keys()].filter((name) => words.has(name)));
}
