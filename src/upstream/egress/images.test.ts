import { expect, test } from 'bun:test'
import { checkImageData } from './images.ts'

test('other events pass between the validation of a body and the check of its images', async () => {
  let passed = false
  setImmediate(() => {
    passed = true
  })
  await checkImageData(['data:image/png;base64,AAAA'], () => 0)
  expect(passed).toBe(true)
})
