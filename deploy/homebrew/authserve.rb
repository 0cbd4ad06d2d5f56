# Homebrew on Linux. A release has this file with its version and checksums. Replace releases.example.com by the place of its files.
class Authserve < Formula
  desc "Self-hosted single-session login and webhook receiver in one executable"
  homepage "https://releases.example.com"
  version "@VERSION@"
  license "MIT"

  depends_on :linux

  on_intel do
    url "https://releases.example.com/authserve-@VERSION@-linux-x64.tar.gz"
    sha256 "@SHA256-linux-x64@"
  end
  on_arm do
    url "https://releases.example.com/authserve-@VERSION@-linux-arm64.tar.gz"
    sha256 "@SHA256-linux-arm64@"
  end

  def install
    bin.install "authserve"
    man1.install "authserve.1"
    generate_completions_from_executable(bin/"authserve", "completion")
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/authserve --version")
  end
end
