const RATE = 16_000
const HEADER_BYTES = 44

/** A sound as a mono 16 kHz WAV, which every recogniser reads. */
export async function wavOf(sound: AudioBuffer): Promise<Blob> {
  const mixer = new OfflineAudioContext(1, Math.ceil(sound.duration * RATE), RATE)
  const source = mixer.createBufferSource()
  source.buffer = sound
  source.connect(mixer.destination)
  source.start()
  const mono = await mixer.startRendering()
  return encodeWav(mono.getChannelData(0))
}

/** Decodes what a browser has recorded, at the rate of the WAV. */
export const decoded = async (recorded: Blob): Promise<AudioBuffer> =>
  new OfflineAudioContext(1, 1, RATE).decodeAudioData(await recorded.arrayBuffer())

function encodeWav(samples: Float32Array): Blob {
  const view = new DataView(new ArrayBuffer(HEADER_BYTES + samples.length * 2))
  const text = (at: number, word: string) => {
    for (let i = 0; i < word.length; i += 1) view.setUint8(at + i, word.charCodeAt(i))
  }
  text(0, 'RIFF')
  view.setUint32(4, view.byteLength - 8, true)
  text(8, 'WAVEfmt ')
  view.setUint32(16, 16, true)
  view.setUint16(20, 1, true)
  view.setUint16(22, 1, true)
  view.setUint32(24, RATE, true)
  view.setUint32(28, RATE * 2, true)
  view.setUint16(32, 2, true)
  view.setUint16(34, 16, true)
  text(36, 'data')
  view.setUint32(40, samples.length * 2, true)
  samples.forEach((sample, index) => {
    const value = Math.max(-1, Math.min(1, sample))
    view.setInt16(HEADER_BYTES + index * 2, value * 0x7fff, true)
  })
  return new Blob([view.buffer], { type: 'audio/wav' })
}
