import { Elysia } from 'elysia'
import type { Clock } from '../../core/clock.ts'
import { AppError } from '../../core/errors.ts'
import { ANONYMOUS_BODY_BYTES_MAX } from '../../core/limits/machine.ts'
import type { Boards } from '../../features/devices/boards.ts'
import { readBytes } from '../../http/body.ts'
import {
  addressGroup,
  type ClientAddress,
  type SocketAddresses,
} from '../../http/client-address.ts'
import type { Origins } from '../../http/origin.ts'
import { type OtaFacts, otaAnswer, otaRefusal, readBoard, readFirmware, WRONG_CODE } from './ota.ts'

export interface XiaozhiRouteOptions {
  readonly boards: Pick<Boards, 'start' | 'isPaired'>
  readonly addressOf: ClientAddress
  readonly origins: Pick<Origins, 'base'>
  readonly clock: Clock
}

/** The path of the socket below the public address; usual for such servers. */
const SOCKET_PATH = '/xiaozhi/v1/'

interface BoardRequest {
  readonly request: Request
  readonly server: SocketAddresses | null
  /** Absent on paths without any. */
  readonly params?: { readonly code?: string }
  readonly route: string
}

/** The code in the path; null on paths without one. One that cannot be decoded is a wrong code. */
const codeOf = ({ route, params }: BoardRequest) =>
  route.includes('/:code') ? (params?.code ?? '') : null

/** The requests of unmodified xiaozhi boards at their start. */
export function xiaozhiRoutes(options: XiaozhiRouteOptions) {
  const { boards, addressOf, clock } = options

  /** Always answers 200 and JSON: the firmware shows no other message. */
  async function start(call: BoardRequest): Promise<object> {
    const { request, server } = call
    const body = await bodyOf(request)
    const board = readBoard(request.headers, body)
    const facts = factsOf(request, readFirmware(request.headers, body))
    const address = addressGroup(addressOf(request, server))
    try {
      if (board === null) return otaRefusal(facts, WRONG_CODE)
      const state = await boards.start({ board, code: codeOf(call) }, address)
      return otaAnswer(facts, state)
    } catch (error) {
      if (!(error instanceof AppError) || error.status >= 500) throw error
      const isWrong = error.code === 'activation_code_wrong'
      return otaRefusal(facts, isWrong ? WRONG_CODE : error.message)
    }
  }

  /** Answers 202 while the board is not paired; it asks again in 3 seconds. */
  async function activate(call: BoardRequest): Promise<Response> {
    const board = readBoard(call.request.headers, await bodyOf(call.request))
    const paired = board !== null && (await boards.isPaired({ board, code: codeOf(call) }))
    return Response.json({}, { status: paired ? 200 : 202, headers: NO_STORE })
  }

  const factsOf = (request: Request, firmware: string | null): OtaFacts => ({
    now: clock.now(),
    zoneMinutes: -new Date(clock.now()).getTimezoneOffset(),
    firmware,
    socketUrl: `${options.origins.base(request).replace(/^http/, 'ws')}${SOCKET_PATH}`,
  })

  const begin = async (call: BoardRequest) =>
    Response.json(await start(call), { headers: NO_STORE })
  return new Elysia({ name: 'xiaozhi' })
    .get('/xiaozhi', begin)
    .post('/xiaozhi', begin, UNREAD)
    .get('/xiaozhi/:code', begin)
    .post('/xiaozhi/:code', begin, UNREAD)
    .post('/xiaozhi/activate', activate, UNREAD)
    .post('/xiaozhi/:code/activate', activate, UNREAD)
}

const UNREAD = { parse: 'none' } as const
/** Answers contain the key of a device. */
const NO_STORE = { 'cache-control': 'no-store' }

/** The body; empty when it cannot be read, because the headers are enough to identify the board. */
async function bodyOf(request: Request): Promise<string> {
  try {
    return new TextDecoder().decode(await readBytes(request, ANONYMOUS_BODY_BYTES_MAX))
  } catch {
    return ''
  }
}
