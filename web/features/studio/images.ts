import { IMAGE_BYTES_MAX, PICTURE_BYTES_MAX } from '../../../src/core/limits/contract.ts'

export const isImage = (file: File): boolean =>
  file.type.startsWith('image/') && file.size <= IMAGE_BYTES_MAX

/** A `data:image/...;base64` URL, the form that the agent accepts. */
export const toDataUrl = (file: Blob): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result))
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(file)
  })

/** The longer sides to which a picture is drawn that is too large to be kept. */
const SIDES = [3_000, 2_000, 1_200]
const QUALITY = 0.85

/** As `toDataUrl`; a picture that is too large to be kept is drawn smaller first. */
export async function toSmallUrl(file: Blob): Promise<string> {
  if (file.size <= PICTURE_BYTES_MAX) return toDataUrl(file)
  for (const side of SIDES) {
    const smaller = await drawn(file, side).catch(() => null)
    if (smaller && smaller.size <= PICTURE_BYTES_MAX) return toDataUrl(smaller)
  }
  return toDataUrl(file)
}

async function drawn(file: Blob, side: number): Promise<Blob> {
  const bitmap = await createImageBitmap(file)
  const scale = Math.min(1, side / Math.max(bitmap.width, bitmap.height))
  const canvas = document.createElement('canvas')
  canvas.width = Math.max(1, Math.round(bitmap.width * scale))
  canvas.height = Math.max(1, Math.round(bitmap.height * scale))
  canvas.getContext('2d')?.drawImage(bitmap, 0, 0, canvas.width, canvas.height)
  bitmap.close()
  const { promise, resolve, reject } = Promise.withResolvers<Blob>()
  const done = (blob: Blob | null) => (blob ? resolve(blob) : reject(new Error('not drawn')))
  canvas.toBlob(done, 'image/jpeg', QUALITY)
  return promise
}
