"""Tables on S3, Google Cloud Storage and Azure by conditional writes (`obstore`), and on other remote file systems (`fsspec`)."""
