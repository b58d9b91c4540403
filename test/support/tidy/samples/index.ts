import { GRAPH_SAMPLES } from './graph.ts'
import { LAYER_SAMPLES } from './layers.ts'
import { LEFTOVER_SAMPLES } from './leftovers.ts'
import { MACHINE_SAMPLES } from './machine.ts'
import type { Sample } from './sample.ts'
import { SIZE_SAMPLES } from './size.ts'

/** One sample a rule, in the order of the rules. */
export const SAMPLES: readonly Sample[] = [
  ...LAYER_SAMPLES,
  ...MACHINE_SAMPLES,
  ...SIZE_SAMPLES,
  ...GRAPH_SAMPLES,
  ...LEFTOVER_SAMPLES,
]
