import type { Clock } from '../../core/clock.ts'

/** Messages a second, and how many may come at once after a stall of the network. */
const FRAMES_PER_SECOND = 100
const FRAMES_AT_ONCE = 200
/** Sound a second, and how much may come at once; a board sends it in real time. */
const SOUND_MS_PER_SECOND = 1_500
const SOUND_MS_AT_ONCE = 12_000
/** A board sends 100 to 300 bytes. */
const PACKET_BYTES_MAX = 1_500

type Steady = Pick<Clock, 'steady'>

/** A token bucket; what is beyond it is refused. */
function createBucket({ steady }: Steady, most: number, perSecond: number) {
  let left = most
  let at = steady()
  return (cost: number): boolean => {
    const now = steady()
    left = Math.min(most, left + ((now - at) / 1_000) * perSecond)
    at = now
    if (left < cost) return false
    left -= cost
    return true
  }
}

/** Whether one more message may be handled; boards send 17 or 50 a second. */
export function createFrameLimit(clock: Steady): () => boolean {
  const take = createBucket(clock, FRAMES_AT_ONCE, FRAMES_PER_SECOND)
  return () => take(1)
}

/** Whether a packet of Opus may be decoded: by its size, and by the sound that it holds. */
export function createSoundLimit(clock: Steady): (packet: Uint8Array) => boolean {
  const takeFrame = createFrameLimit(clock)
  const takeSound = createBucket(clock, SOUND_MS_AT_ONCE, SOUND_MS_PER_SECOND)
  return (packet) => packet.length <= PACKET_BYTES_MAX && takeFrame() && takeSound(packetMs(packet))
}

/** Durations of a frame, by the configuration number (RFC 6716, section 3.1). */
const [SILK_MS, HYBRID_MS, CELT_MS] = [
  [10, 20, 40, 60],
  [10, 20],
  [2.5, 5, 10, 20],
] as const

/** The length of the sound in a packet, by its first two bytes (RFC 6716, section 3.2). */
export function packetMs(packet: Uint8Array): number {
  const [toc = 0, count = 0] = packet
  const config = toc >> 3
  const frameMs =
    config < 12
      ? SILK_MS[(config & 3) as 0]
      : config < 16
        ? HYBRID_MS[(config & 1) as 0]
        : CELT_MS[(config & 3) as 0]
  const frames = [1, 2, 2, count & 63][toc & 3] as number
  return frameMs * frames
}
