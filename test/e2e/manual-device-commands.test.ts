import { describe, expect, test } from 'bun:test'
import { guideBlock, heardBy, startVoiceApp } from '../support/manual-programs.ts'
import { tone, wav } from '../support/recordings.ts'
import { tempFolder } from '../support/temp.ts'

const CURL = Bun.which('curl')
if (!CURL) process.stderr.write("skipped: no curl here to run the guide's commands\n")

// Without curl there is nothing to run.
describe.skipIf(!CURL)('the commands of the guide', () => {
  test('the commands of the guide activate a device, send a heartbeat and talk', async () => {
    await using world = await startVoiceApp()
    const { upstream, devices, app } = world
    using folder = tempFolder()
    // Longer than one argument of a command may be.
    const question = wav(16_000, tone(16_000, 10))
    await Bun.write(folder.file('question.wav'), question)
    const run = async (mark: string, change: (command: string) => string, key = '') => {
      const command = change(await guideBlock(mark)).replace('http://192.168.1.10:3900', app.url)
      const child = Bun.spawn(['/bin/sh', '-ec', command], {
        cwd: folder.path,
        env: { ...process.env, KEY: key },
        stderr: 'ignore',
      })
      return JSON.parse(await new Response(child.stdout).text()) as Record<string, string>
    }

    const { id, code } = await devices.register()
    const paired = await run('curl http://192.168.1.10:3900/v1/devices/activate', (command) =>
      command.replace('ABCD-EFGH-IJKM-NOPQ', code),
    )
    expect(paired).toMatchObject({ device_id: id, app_id: null })
    const same = (command: string) => command
    const beat = await run('/v1/devices/heartbeat', same, paired.key)
    expect(beat.device_id).toBe(id)
    upstream.reply({ text: '开了。' })
    const turn = await run('/v1/voice -H', same, paired.key)
    expect(turn).toMatchObject({ reply_text: '开了。', audio_format: 'mp3' })
    expect(await heardBy(upstream)).toEqual(Buffer.from(question))
  }, 60_000)
})
