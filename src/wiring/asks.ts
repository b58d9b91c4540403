import { createAsks } from '../features/asks/service.ts'
import { createAskStore } from '../features/asks/store.ts'
import type { Adapters } from './adapters.ts'

/** Wires what turns ask their people. */
export const openAsks = ({ db, clock, metrics, live, shared }: Adapters) =>
  createAsks({
    store: createAskStore(db),
    clock,
    meters: metrics.meters,
    askMs: () => live.config().MB_ASK_MS,
    isAlone: shared.isAlone,
  })
