"""Training of encoders, synthesisers and taggers (extra ``train``)."""
