import { DEVICE_ONLINE_MS_MAX } from '../../src/core/limits/contract.ts'
import { startUpstream } from '../bench/programs.ts'
import { createDevice, DEVICE_WORK, type Device, type Work } from './device.ts'
import type { Scenario } from './scenario.ts'
import { createTally } from './tally.ts'

const DEVICES = 20
/** A device may make 60 requests a minute; this stays just below. */
const PACE_MS = 1_050
/** Actions after which every fourth device loses its key and pairs again. */
const CUT_EVERY = 10

/** Twenty devices that send heartbeats, talk, interrupt, lose their keys and pair again. */
export async function devices(): Promise<Scenario> {
  const upstream = await startUpstream()
  await upstream.plan({ tokens: 10, delayMs: 5 })
  return {
    env: {
      MB_LLM_BASE_URL: `${upstream.url}/v1`,
      MB_LLM_MODEL: 'fake',
      MB_TTS_BASE_URL: `${upstream.url}/v1`,
      MB_ASR_BASE_URL: `${upstream.url}/v1`,
      MB_TRUST_PROXY: '1',
    },
    residentMibMax: 256,
    async start([server], headers) {
      const url = server?.url ?? ''
      const owner = createOwner(url, headers)
      const tally = createTally()
      let stopped = false
      const lives = Array.from({ length: DEVICES }, async (_, at) => {
        const name = `device-${at}`
        const device = createDevice({ url, name, address: `10.0.0.${at + 1}` })
        const { id, code } = await owner.register(name)
        await device.activate(code)
        await Bun.sleep((PACE_MS * at) / DEVICES)
        for (let step = at; !stopped; step++) {
          const begin = performance.now()
          const cut = at % 4 === 0 && step % CUT_EVERY === CUT_EVERY - 1
          await tally.time(cut ? 'cut off' : nameOf(step), () =>
            cut ? cutOff(owner, device, id) : device.work[nameOf(step)](),
          )
          await Bun.sleep(Math.max(0, PACE_MS * (cut ? 4 : 1) - (performance.now() - begin)))
        }
      })
      return {
        progress: tally.text,
        async stop() {
          stopped = true
          await Promise.all(lives)
          return [...tally.faults, ...(await owner.unseen())]
        },
      }
    },
    close: upstream[Symbol.asyncDispose],
  }
}

const nameOf = (step: number): Work => DEVICE_WORK[step % DEVICE_WORK.length] ?? 'beat'

async function cutOff(owner: Owner, device: Device, id: string): Promise<void> {
  const code = await owner.recode(id)
  await device.expectRevoked()
  await device.activate(code)
  await device.work.beat()
}

type Owner = ReturnType<typeof createOwner>

function createOwner(url: string, headers: Readonly<Record<string, string>>) {
  const call = async (method: string, path: string, body?: object) => {
    const response = await fetch(`${url}/v1/devices${path}`, {
      method,
      headers,
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    if (!response.ok) throw new Error(`${method} /v1/devices${path}: ${response.status}`)
    return response.json() as Promise<Record<string, unknown>>
  }
  return {
    async register(name: string) {
      const { id, activation_code } = await call('POST', '', { name })
      return { id: String(id), code: String(activation_code) }
    },
    recode: async (id: string) => String((await call('POST', `/${id}/recode`)).activation_code),
    /** Devices that the list does not show as online, as sentences. */
    async unseen(): Promise<string[]> {
      const list = (await call('GET', '')).devices as { name: string; last_seen_at: string }[]
      const late = list.filter(({ last_seen_at }) => {
        return !(Date.now() - Date.parse(last_seen_at) < DEVICE_ONLINE_MS_MAX)
      })
      const missing = list.length === DEVICES ? [] : [`${list.length} devices in the list`]
      return [...missing, ...late.map(({ name }) => `${name} is not online`)]
    },
  }
}
