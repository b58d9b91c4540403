import type { Config } from '../config.ts'
import { type Clock, HOUR_MS } from '../core/clock.ts'
import { deriveKey, randomBytes, randomHex } from '../core/crypto.ts'
import { ACTIVATIONS_MAX, RATE_WINDOW_MS, WRONG_PAIRINGS_MAX } from '../core/limits/contract.ts'
import type { Logger } from '../core/log.ts'
import type { MemoryBudget } from '../core/memory-budget.ts'
import { createLoopTurns } from '../core/time-slice.ts'
import { isReachable } from '../doors/xiaozhi/console-routes.ts'
import type { Sockets } from '../doors/xiaozhi/sockets.ts'
import { createEnergyDetector, createModelDetector } from '../doors/xiaozhi/speech-detector.ts'
import { BoardTurns } from '../doors/xiaozhi/turn.ts'
import type { Agent } from '../features/agent/service.ts'
import type { AuditCode } from '../features/audit/service.ts'
import { createActivation } from '../features/devices/activation.ts'
import { createBoardStore } from '../features/devices/board-store.ts'
import { createBoards } from '../features/devices/boards.ts'
import { createPairing } from '../features/devices/pairing.ts'
import { createDevices } from '../features/devices/service.ts'
import {
  createActivationStore,
  createDeviceStore,
  type LastSeen,
} from '../features/devices/store.ts'
import { createWaitingBoards } from '../features/devices/waiting.ts'
import type { Keys } from '../features/keys/service.ts'
import type { Voice } from '../features/voice/service.ts'
import { outcomeOf, stopwatch } from '../features/voice/voice-turn.ts'
import { clientAddress } from '../http/client-address.ts'
import { type CallOptions, createCalls } from '../http/gate.ts'
import { createRateLimiter } from '../http/request-limits.ts'
import { createWriteBehindQueue } from '../jobs/write-behind.ts'
import { speakSentence, speakTurn } from '../speech/spoken-turn.ts'
import type { Db } from '../storage/db.ts'
import type { SharedState } from '../storage/shared-state.ts'
import type { Vad } from '../upstream/ports/speech.ts'
import type { LiveSettings } from './live-settings.ts'
import type { Speech } from './voice.ts'

export interface DeviceParts {
  readonly config: Config
  readonly clock: Clock
  readonly log: Logger
  readonly db: Db
  readonly shared: Pick<SharedState, 'openWindows' | 'openCodes'>
  readonly keys: Keys
  readonly auditCode: AuditCode
  /** The session secret. */
  readonly secret: Uint8Array
}

export type Stock = ReturnType<typeof openDevices>

/** Wires devices: management, activation, and the time each was last seen. */
export function openDevices(parts: DeviceParts) {
  const { config, clock, log, db, shared, keys, auditCode, secret } = parts
  const store = createActivationStore(db)
  const lastSeen = createWriteBehindQueue<LastSeen>({
    clock,
    log,
    name: 'last seen',
    write: store.write,
  })
  // Not the machine gate's limiter: it counts keys, this one counts addresses.
  const limiter = createRateLimiter(shared.openWindows('activation', RATE_WINDOW_MS))
  const deviceStore = createDeviceStore(db)
  const devices = createDevices({ store: deviceStore, clock, keys, lastSeen, random: randomBytes })
  const boardStore = createBoardStore(db)
  const boards = {
    ...{ keys, clock, store: boardStore, secret: deriveKey(secret, 'board key') },
    waiting: createWaitingBoards({
      openCodes: shared.openCodes,
      secret: deriveKey(secret, 'waiting board'),
      nonce: () => randomHex(16),
    }),
  }
  const wrong = createRateLimiter(shared.openWindows('pairing guess', HOUR_MS))
  const guesses = {
    reserve: (tenantId: string) =>
      wrong.reserve(tenantId, WRONG_PAIRINGS_MAX, 'rate_limited_activation'),
    giveBack: wrong.giveBack,
  }
  return {
    devices,
    boards: createBoards({
      ...boards,
      activation: store,
      async takeTry(address) {
        await limiter.take(address, ACTIVATIONS_MAX, 'rate_limited_activation')
      },
      onSeen: lastSeen.add,
    }),
    lastTurns: boardStore.lastTurns,
    pairing: createPairing({ ...boards, devices, guesses, random: randomBytes }),
    /** For the routes that devices themselves call. */
    endpoints: {
      activation: createActivation({ store, clock, keys }),
      limiter,
      auditCode,
      addressOf: clientAddress(config.MB_TRUST_PROXY),
    },
    lastSeen,
  }
}

const SPEECH = { speakSentence, speakTurn, stopwatch, outcomeOf }

export interface XiaozhiParts {
  readonly stock: Stock
  readonly speech: Pick<Speech, 'codecs'>
  readonly vad: Vad | null
  readonly voice: Voice
  readonly agent: Agent
  readonly clock: Clock
  readonly log: Logger
  readonly budget: MemoryBudget
  readonly sockets: Sockets
  readonly keys: Keys
  readonly calls: CallOptions
  readonly live: Pick<LiveSettings, 'config'>
}

/**
 * Wires what stock voice boards call: the request at their start, and the socket of their turns.
 */
export function openXiaozhi(parts: XiaozhiParts) {
  const { stock, speech, voice, agent, clock, log, budget, sockets, keys, calls } = parts
  const { live, vad } = parts
  const { boards, devices, endpoints, lastTurns } = stock
  const { codecs } = speech
  const { MB_PUBLIC_URL: address } = live.config()
  if (address !== undefined && !isReachable(address)) {
    log.warn('voice boards cannot reach this address', { setting: 'MB_PUBLIC_URL' })
  }
  return {
    ...{
      boards,
      lastTurns,
      addressOf: endpoints.addressOf,
      noteSeen: devices.noteSeen,
      clock,
      log,
      budget,
      sockets,
      keys,
      codecs,
    },
    loopTurns: createLoopTurns(clock.steady),
    turns: new BoardTurns({ agent, voice, codecs, clock, log, speech: SPEECH }),
    detector: () => (vad ? createModelDetector(vad.open()) : createEnergyDetector()),
    call: createCalls(calls),
  }
}
