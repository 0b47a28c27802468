// Sound in the browser: decoding, writing WAV, recording.

export async function decode(blob) {
  const context = new OfflineAudioContext(1, 1, 44100);
  const sound = await context.decodeAudioData(await blob.arrayBuffer());
  return { samples: sound.getChannelData(0), rate: sound.sampleRate };
}

export const lengthOf = ({ samples, rate }) => samples.length / rate;

export function asWav({ samples, rate }) {
  const view = new DataView(new ArrayBuffer(44 + 2 * samples.length));
  const word = (at, letters) => [...letters].forEach((c, i) => view.setUint8(at + i, c.charCodeAt(0)));
  word(0, "RIFF");
  view.setUint32(4, 36 + 2 * samples.length, true);
  word(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, rate, true);
  view.setUint32(28, 2 * rate, true);
  view.setUint16(32, 2, true);
  view.setUint16(34, 16, true);
  word(36, "data");
  view.setUint32(40, 2 * samples.length, true);
  samples.forEach((one, i) => {
    view.setInt16(44 + 2 * i, Math.max(-32768, Math.min(32767, Math.round(one * 32768))), true);
  });
  return new Blob([view], { type: "audio/wav" });
}

// Starts a recording and tells its loudness, 0 to 1; what it gives back ends it.
export async function record(heard) {
  const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
  const recorder = new MediaRecorder(stream);
  const pieces = [];
  recorder.addEventListener("dataavailable", (event) => pieces.push(event.data));
  recorder.start();
  const quiet = listen(stream, heard);
  return () =>
    new Promise((resolve, reject) => {
      recorder.addEventListener("stop", () => {
        quiet();
        stream.getTracks().forEach((track) => track.stop());
        decode(new Blob(pieces, { type: recorder.mimeType })).then(resolve, reject);
      });
      recorder.stop();
    });
}

function listen(stream, heard) {
  const context = new AudioContext();
  const ear = context.createAnalyser();
  context.createMediaStreamSource(stream).connect(ear);
  const wave = new Float32Array(ear.fftSize);
  const timer = setInterval(() => {
    ear.getFloatTimeDomainData(wave);
    heard(Math.min(1, Math.max(...wave.map(Math.abs))));
  }, 80);
  return () => {
    clearInterval(timer);
    context.close();
  };
}
