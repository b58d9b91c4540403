import type { Page } from 'playwright-core'

export interface Finger {
  /** Goes on to this place, in this time. */
  readonly to: (x: number, y: number, ms?: number) => Promise<void>
  readonly up: (ms?: number) => Promise<void>
  /** Another finger comes down beside it. */
  readonly second: (x: number, y: number) => Promise<void>
  /** The system takes the finger for itself. */
  readonly cancel: () => Promise<void>
}

/**
 * Fingers of a browser, which scrolls by them as it does by real ones. They keep their own time, so
 * that the speed of a finger is that of the test and not of the machine.
 */
export async function touchOf(page: Page) {
  const client = await page.context().newCDPSession(page)
  let ms = Date.now()
  type Point = { readonly x: number; readonly y: number; readonly id: number }
  const send = (type: 'touchStart' | 'touchMove' | 'touchEnd' | 'touchCancel', of: Point[]) =>
    client.send('Input.dispatchTouchEvent', { type, touchPoints: of, timestamp: ms / 1000 })
  return async function down(x: number, y: number): Promise<Finger> {
    ms = Math.max(ms + 1_000, Date.now())
    const at = [{ x, y, id: 1 }]
    await send('touchStart', at)
    return {
      async to(nextX, nextY, took = 200) {
        const steps = 5
        const [{ x: fromX, y: fromY } = { x, y }] = at
        for (let step = 1; step <= steps; step++) {
          ms += took / steps
          const part = step / steps
          const place = { x: fromX + (nextX - fromX) * part, y: fromY + (nextY - fromY) * part }
          at[0] = { ...place, id: 1 }
          await send('touchMove', at)
        }
      },
      async up(took = 0) {
        ms += took
        await send('touchEnd', [])
      },
      second: async (besideX, besideY) =>
        void (await send('touchStart', [...at, { x: besideX, y: besideY, id: 2 }])),
      cancel: async () => void (await send('touchCancel', [])),
    }
  }
}
