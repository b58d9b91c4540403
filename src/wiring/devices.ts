import { HOUR_MS } from '../core/clock.ts'
import { deriveKey, randomBytes, randomHex } from '../core/crypto.ts'
import { ACTIVATIONS_MAX, RATE_WINDOW_MS, WRONG_PAIRINGS_MAX } from '../core/limits/contract.ts'
import type { MemoryBudget } from '../core/memory-budget.ts'
import { deviceSubject } from '../core/subject.ts'
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
import { forgetSubject } from '../features/memories/store.ts'
import { createNoticeStore, type NoticeRow } from '../features/runs/notice-store.ts'
import { createNotices } from '../features/runs/notices.ts'
import type { Voice } from '../features/voice/service.ts'
import { clientAddress } from '../http/client-address.ts'
import type { Call } from '../http/gate.ts'
import type { LoggedRequest, RequestContexts } from '../http/observe.ts'
import type { Origins } from '../http/origin.ts'
import { createRateLimiter } from '../http/request-limits.ts'
import type { Jobs } from '../jobs/runner.ts'
import { createWriteBehindQueue } from '../jobs/write-behind.ts'
import type { Adapters } from './adapters.ts'

/** How soon a board with an open socket hears what it is to be told. */
const NOTICES_EVERY_MS = 1_000

export type OpenedDevices = ReturnType<typeof openDevices>

/** Wires devices: management, activation, and the time each was last seen. */
export function openDevices(adapters: Adapters, keys: Keys, auditCode: AuditCode) {
  const { config, clock, log, db, shared, secrets } = adapters
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
  const random = randomBytes
  const removal = (tenantId: string, id: string) => [forgetSubject(tenantId, deviceSubject(id))]
  const service = createDevices({ store: deviceStore, clock, keys, lastSeen, removal, random })
  const boardStore = createBoardStore(db)
  const notices = createNotices({ store: createNoticeStore(db), clock })
  const secret = deriveKey(secrets.session, 'board key')
  const waiting = createWaitingBoards({
    openCodes: shared.openCodes,
    secret: deriveKey(secrets.session, 'waiting board'),
    nonce: () => randomHex(16),
  })
  const wrong = createRateLimiter(shared.openWindows('pairing guess', HOUR_MS))
  const guesses = {
    reserve: (tenantId: string) =>
      wrong.reserve(tenantId, WRONG_PAIRINGS_MAX, 'rate_limited_activation'),
    giveBack: wrong.giveBack,
  }
  return {
    service,
    boards: createBoards({
      store: boardStore,
      activation: store,
      keys,
      waiting,
      clock,
      secret,
      async takeTry(address) {
        await limiter.take(address, ACTIVATIONS_MAX, 'rate_limited_activation')
      },
      onSeen: lastSeen.add,
    }),
    lastTurns: boardStore.lastTurns,
    pairing: createPairing({
      store: boardStore,
      devices: service,
      keys,
      waiting,
      clock,
      random,
      secret,
      guesses,
    }),
    /** For the routes that devices themselves call. */
    endpoints: {
      notices,
      activation: createActivation({ store, clock, keys }),
      limiter,
      auditCode,
      addressOf: clientAddress(config.MB_TRUST_PROXY),
    },
    notices,
    lastSeen,
  }
}

interface XiaozhiNeeds {
  readonly devices: OpenedDevices
  readonly voice: Voice
  readonly agent: Agent
  readonly budget: MemoryBudget
  readonly sockets: Sockets
  readonly jobs: Jobs
  readonly keys: Keys
  readonly call: Call
  readonly contexts: RequestContexts
  readonly origins: Origins
  readonly record: (request: LoggedRequest) => void
}

/**
 * Wires what stock voice boards call: the request at their start, and the socket of their turns.
 */
export function openXiaozhi(adapters: Adapters, needs: XiaozhiNeeds) {
  const { live, clock, log, vad } = adapters
  const { codecs } = adapters.speech
  const { devices, voice, agent } = needs
  const { MB_PUBLIC_URL: address } = live.config()
  if (address !== undefined && !isReachable(address)) {
    log.warn('voice boards cannot reach this address', { setting: 'MB_PUBLIC_URL' })
  }
  const { notices } = devices
  const deliver = () =>
    needs.sockets.deliver<NoticeRow>({
      take: notices.forDevices,
      giveBack: (unheard) => needs.jobs.run('give notices back', () => notices.giveBack(unheard)),
    })
  needs.jobs.every('speak notices', NOTICES_EVERY_MS, deliver)
  return {
    deliver,
    boards: devices.boards,
    lastTurns: devices.lastTurns,
    addressOf: devices.endpoints.addressOf,
    noteSeen: devices.service.noteSeen,
    clock,
    log,
    codecs,
    budget: needs.budget,
    sockets: needs.sockets,
    keys: needs.keys,
    contexts: needs.contexts,
    origins: needs.origins,
    record: needs.record,
    loopTurns: createLoopTurns(clock.steady),
    turns: new BoardTurns({ agent, voice, codecs, clock, log, notices }),
    detector: () => (vad ? createModelDetector(vad.open()) : createEnergyDetector()),
    call: needs.call,
  }
}
