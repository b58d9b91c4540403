import { expect, test } from 'bun:test'
import { errorsIn, failuresIn } from './failures.ts'

const report = (...failures: string[]) => `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="bun test" tests="2" failures="1">
  <testsuite name="a.test.ts" file="a.test.ts">
    <testcase name="works" classname="a &quot;thing&quot;" file="a.test.ts" line="3" />
    <testcase name="adds" classname="a &quot;thing&quot;" file="a.test.ts" line="4">
      ${failures.join('\n')}
    </testcase>
  </testsuite>
</testsuites>`

test('each failed test of a report is printed with its file, name and error', () => {
  const wrong =
    'Error: not &lt;2&gt;&#10;&#10;Expected: 2&#10;Received: 1&#10;  at a.test.ts:5:9&#10;'
  const junit = report(
    `<failure type="Error" message="not &lt;2&gt;">${wrong}</failure>`,
    '<failure type="TimeoutError" message="test timed out" />',
  )
  expect(failuresIn(junit)).toEqual([
    'a.test.ts:4\na "thing" > adds\n' +
      'Error: not <2>\nExpected: 2\nReceived: 1\n  at a.test.ts:5:9',
    'a.test.ts:4\na "thing" > adds\nTimeoutError: test timed out',
  ])
})

test('a long error is cut in its middle', () => {
  const diff = Array.from({ length: 500 }, (_, at) => `+ ${at}&#10;`).join('')
  const [failure = ''] = failuresIn(report(`<failure type="Error" message="x">${diff}</failure>`))
  const lines = failure.split('\n')
  expect(lines.length).toBeLessThan(45)
  expect([lines[2], lines.at(-1)]).toEqual(['+ 0', '+ 499'])
})

test('errors outside tests are found in the log', () => {
  const rule = '-------------------------------'
  const log = `
b.test.ts:

# Unhandled error between tests
${rule}
error: Cannot find module './missing.ts' from 'b.test.ts'
${rule}

(pass) works
`
  expect(errorsIn(log)).toEqual(["error: Cannot find module './missing.ts' from 'b.test.ts'"])
  expect(errorsIn('(pass) works')).toEqual([])
})
