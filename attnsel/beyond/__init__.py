"""What stands beyond the paper: the certificate, deletion, deeper models."""
