"""Parts that MySQL and MariaDB share; no engine by itself."""
