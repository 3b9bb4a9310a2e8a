"""Results and models beyond the paper: the certificate, deletion, deeper models."""
