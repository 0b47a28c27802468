// Sound in the browser: decoding, encoding as WAV, recording.

export async function decode(blob) {
  const context = new OfflineAudioContext(1, 1, 44100);
  const sound = await context.decodeAudioData(await blob.arrayBuffer());
  return { samples: sound.getChannelData(0), rate: sound.sampleRate };
}

export const lengthOf = ({ samples, rate }) => samples.length / rate;

export function asWav({ samples, rate }) {
  const view = new DataView(new ArrayBuffer(44 + 2 * samples.length));
  const writeText = (offset, text) => [...text].forEach((c, i) => view.setUint8(offset + i, c.charCodeAt(0)));
  writeText(0, "RIFF");
  view.setUint32(4, 36 + 2 * samples.length, true);
  writeText(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, rate, true);
  view.setUint32(28, 2 * rate, true);
  view.setUint16(32, 2, true);
  view.setUint16(34, 16, true);
  writeText(36, "data");
  view.setUint32(40, 2 * samples.length, true);
  samples.forEach((sample, i) => {
    view.setInt16(44 + 2 * i, Math.max(-32768, Math.min(32767, Math.round(sample * 32768))), true);
  });
  return new Blob([view], { type: "audio/wav" });
}

// Starts a recording and reports its loudness, 0 to 1; returns a function that ends it.
export async function record(onLevel) {
  const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
  const recorder = new MediaRecorder(stream);
  const pieces = [];
  recorder.addEventListener("dataavailable", (event) => pieces.push(event.data));
  recorder.start();
  const stopLevels = reportLevels(stream, onLevel);
  return () =>
    new Promise((resolve, reject) => {
      recorder.addEventListener("stop", () => {
        stopLevels();
        stream.getTracks().forEach((track) => track.stop());
        decode(new Blob(pieces, { type: recorder.mimeType })).then(resolve, reject);
      });
      recorder.stop();
    });
}

function reportLevels(stream, onLevel) {
  const context = new AudioContext();
  const analyser = context.createAnalyser();
  context.createMediaStreamSource(stream).connect(analyser);
  const wave = new Float32Array(analyser.fftSize);
  const timer = setInterval(() => {
    analyser.getFloatTimeDomainData(wave);
    onLevel(Math.min(1, Math.max(...wave.map(Math.abs))));
  }, 80);
  return () => {
    clearInterval(timer);
    context.close();
  };
}
