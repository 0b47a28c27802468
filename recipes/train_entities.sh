#!/bin/sh
# Train every tagger of the package. Data: a folder with <set>/<lang>.<split>.conll.xz.
#
#     recipes/train_entities.sh DATA OUT [lang.register ...]
#
# Sets and licences: see NOTICE.md beside the weights. The test parts are never read, but for two:
# Wikigold has no other part, and of GermEval, whose train part is not at hand, the larger part is
# trained on and the dev part tested on. Written taggers but the Portuguese also see spoken commands
# with capitals put in, so that "Call" in "Call Ann" is no name. Spanish and Italian have no open set
# of written text: translate_sets.py and train_translated.py make their written taggers.
set -eu
data=$1 out=$2
shift 2
spoken() { echo "massive/$1.train massive/$1.dev"; }
sets() {
    case $1 in
    *.spoken) spoken "${1%.*}" ;;
    en.written)
        echo "btc/en.train btc/en.dev wnut17/en.train wnut17/en.dev wikigold/en.test massive/en.dev"
        ;;
    de.written) echo "europeana/de.train germeval14/de.test massive/de.dev" ;;
    fr.written | nl.written)
        echo "europeana/${1%.*}.train europeana/${1%.*}.dev massive/${1%.*}.dev"
        ;;
    lv.written) echo "fullstack/lv.train fullstack/lv.dev massive/lv.dev" ;;
    pt.written) echo "bosque/pt.train bosque/pt.dev" ;;
    esac
}
licence() {
    case $1 in
    lv.written | pt.written) echo "CC-BY-SA-4.0" ;;
    *) echo "CC-BY-4.0" ;;
    esac
}
# one spoken tagger for all languages; train_multilingual.py makes the written one
case " $* " in "  " | *" multi.spoken "*)
    files=""
    for lang in en fr it es pt de nl lv; do
        for part in $(spoken $lang); do files="$files $data/$part.conll.xz"; done
    done
    # shellcheck disable=SC2086
    python -m sottovoce train entities $files --lang multi --register spoken \
        --licence CC-BY-4.0 --out "$out/multi.spoken.npz"
    ;;
esac
for lang in en fr it es pt de nl lv; do
    for register in spoken written; do
        name=$lang.$register
        case $name in es.written | it.written) continue ;; esac
        case " $* " in "  " | *" $name "*) ;; *) continue ;; esac
        files=""
        for part in $(sets "$name"); do files="$files $data/$part.conll.xz"; done
        # shellcheck disable=SC2086
        python -m sottovoce train entities $files --lang "$lang" --register "$register" \
            --licence "$(licence "$name")" --out "$out/$name.npz"
    done
done
