import type { Rule } from './rule.ts'
import { graphRules } from './rules/graph.ts'
import { layerRules } from './rules/layers.ts'
import { leftoverRules } from './rules/leftovers.ts'
import { machineRules } from './rules/machine.ts'
import { migrationRule } from './rules/migrations.ts'
import { packageRules } from './rules/packages.ts'
import { sizeRules } from './rules/size.ts'

/** Every rule about the shape of the code that the compiler and the linter do not check. */
export const RULES: readonly Rule[] = [
  ...layerRules,
  ...packageRules,
  ...machineRules,
  ...sizeRules,
  ...graphRules,
  ...leftoverRules,
  migrationRule,
]
