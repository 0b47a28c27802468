#!/bin/sh
# Trains the networks and pools of xvector and dar in src/sottovoce/anonymise/voice/models.
#
#   recipes/train_synthesisers.sh CORPUS POOL OUT
#
# CORPUS: 28 speakers of LibriSpeech train-clean-5, 500 utterances of 3 to 16 s (1.3 h).
# POOL: the first 8 s of one utterance each of 223 other speakers of train-clean-100 (0.5 h).
# Both are CC BY 4.0. If the script is stopped, start it again: it continues. More steps give
# better voices; the training of the shipped files was stopped early, see models/NOTICE.md.
set -eu
corpus=$1 pool=$2 out=$3
models=$(dirname "$0")/../src/sottovoce/anonymise/voice/models
sottovoce train synthesiser "$corpus" --pool "$pool" --out "$out" --licence "CC BY 4.0" \
    --steps "${XVECTOR_STEPS:-20000}"
sottovoce train synthesiser "$corpus" --pool "$pool" --out "$out" --licence "CC BY 4.0" \
    --model dar --steps "${DAR_STEPS:-10000}"
for file in xvector.onnx xvector.json pool.npz dar.onnx dar.json dar_voices.npz; do
    cp "$out/$file" "$models/$file"
done
