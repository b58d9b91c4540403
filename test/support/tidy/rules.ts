import type { Rule } from './rule.ts'
import { layerRules } from './rules/layers.ts'
import { lockRule } from './rules/locks.ts'
import { migrationRules } from './rules/migrations.ts'
import { spreadRules } from './rules/spreads.ts'
import { textRules } from './rules/text.ts'

/** Rules that Biome, knip and the compiler do not check: layers, SQL, migrations and words. */
export const RULES: readonly Rule[] = [
  ...layerRules,
  ...textRules,
  ...migrationRules,
  lockRule,
  ...spreadRules,
]
