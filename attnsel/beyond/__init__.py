"""Beyond the paper: the certificate, deletion, deeper models and black-box tests."""
