#!/bin/sh
# Trains the network of xvector in src/sottovoce/anonymise/voice/models.
#
#   recipes/train_synthesisers.sh SPEECH OUT
#
# SPEECH holds four corpora made from LibriSpeech (CC BY 4.0), each with a manifest:
#   libri_train28       500 utterances of 28 speakers of train-clean-5 (1.3 h)
#   libri_train28_more  835 further utterances of them (3.3 h)
#   libri_dev40         597 utterances of 40 speakers of dev-clean (1.0 h)
#   libri_pool223       the first 8 s of one utterance each of 223 speakers of train-clean-100 (0.5 h)
# Twelve speakers are never trained on: all choices were made with them. The learning curves of the
# shipped network are beside this file. If the script is stopped, start it again: it continues.
set -eu
speech=$1 out=$2
models=$(dirname "$0")/../src/sottovoce/anonymise/voice/models
held_out=""
for number in 1088 118 1272 1462 2035 251 3526 3576 3664 3752 6295 6319; do
    held_out="$held_out --held-out ls-$number"
done
# shellcheck disable=SC2086
sottovoce train synthesiser "$speech/libri_train28" "$speech/libri_train28_more" \
    "$speech/libri_dev40" --pool "$speech/libri_pool223" --out "$out" --licence "CC BY 4.0" \
    --listener-steps 3000 --steps 16000 $held_out
# pool.npz stays: it has the same voices, but PLDA of an earlier run, with every fourth recording of
# libri_train28_more, so that selections of pseudo-speakers stay what they were.
cp "$out/xvector.onnx" "$out/xvector.json" "$models"
