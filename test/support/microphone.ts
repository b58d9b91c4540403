import type { Page } from 'playwright-core'

interface Heard {
  readonly gain?: GainNode
  readonly tracks: MediaStreamTrack[]
  readonly contexts: AudioContext[]
}

/** Gives a page a microphone that hears a tone while somebody `speaks`. */
export async function giveMicrophone(page: Page) {
  await page.addInitScript(() => {
    const heard: { gain?: GainNode; tracks: MediaStreamTrack[]; contexts: AudioContext[] } = {
      tracks: [],
      contexts: [],
    }
    Object.assign(window, { heard })
    const Plain = AudioContext
    const room = new Plain()
    window.AudioContext = class extends Plain {
      constructor(options?: AudioContextOptions) {
        super(options)
        heard.contexts.push(this)
      }
    }
    navigator.mediaDevices.getUserMedia = async () => {
      await room.resume()
      const out = room.createMediaStreamDestination()
      const gain = room.createGain()
      const voice = room.createOscillator()
      gain.gain.value = 0
      voice.connect(gain).connect(out)
      voice.start()
      heard.gain = gain
      heard.tracks.push(...out.stream.getTracks())
      return out.stream
    }
  })
  return {
    speaks: (isLoud: boolean) =>
      page.evaluate(
        (level) => {
          const { gain } = (window as unknown as { heard: Heard }).heard
          if (gain) gain.gain.value = level
        },
        isLoud ? 0.5 : 0,
      ),
    /** Whether the page lets sound in. */
    isOn: () =>
      page.evaluate(() => {
        const { tracks } = (window as unknown as { heard: Heard }).heard
        return tracks.some(({ enabled, readyState }) => enabled && readyState === 'live')
      }),
    /** Resolves once the microphone is released and nothing can sound any more. */
    released: () =>
      page.waitForFunction(() => {
        const { tracks, contexts } = (window as unknown as { heard: Heard }).heard
        return (
          tracks.length > 0 &&
          tracks.every(({ readyState }) => readyState === 'ended') &&
          contexts.every(({ state }) => state === 'closed')
        )
      }),
    /** Takes the microphone away, as pulling its plug does. */
    unplug: () =>
      page.evaluate(() => {
        for (const track of (window as unknown as { heard: Heard }).heard.tracks) {
          track.stop()
          track.dispatchEvent(new Event('ended'))
        }
      }),
  }
}
