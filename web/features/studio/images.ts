import { IMAGE_BYTES_MAX } from '../../../src/core/limits/contract.ts'

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
