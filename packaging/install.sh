#!/bin/sh
# Installs ChatOS for the person who runs it: no root, one program in ~/.local/bin.
#
#   install.sh [--version V] [--prefix DIR] [--from URL] [--require-signature]
#   install.sh --uninstall [--prefix DIR]
#
# The checksum of what was downloaded must be in the signed list of the release, or nothing is installed. The signature
# is checked with minisign or OpenSSL 3, where one of them is here; where neither is, that is said, and with
# --require-signature nothing is installed. What you made (chats, settings, plugins) lies elsewhere and is never touched.
#
# `cargo xtask dist` writes the two values below into the script of a release.
set -eu

releases='@RELEASES@'
public_key='@PUBLIC_KEY@'

prefix="${HOME:-}/.local"
version=
uninstall=
require=

case "${LC_ALL:-${LC_MESSAGES:-${LANG:-}}}" in
  zh*) chinese=1 ;;
  *) chinese= ;;
esac

# say ENGLISH CHINESE
say() {
  if [ -n "$chinese" ]; then printf '%s\n' "$2"; else printf '%s\n' "$1"; fi
}

# die ENGLISH CHINESE HINT-ENGLISH HINT-CHINESE
die() {
  if [ -n "$chinese" ]; then
    printf '错误：%s\n提示：%s\n' "$2" "$4" >&2
  else
    printf 'error: %s\nhint: %s\n' "$1" "$3" >&2
  fi
  exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

read_arguments() {
  while [ $# -gt 0 ]; do
    case "$1" in
      --uninstall) uninstall=1 ;;
      --require-signature) require=1 ;;
      --version | --prefix | --from)
        [ $# -ge 2 ] || die "$1 needs a value" "$1 需要一个值" "write $1 VALUE" "请写成 $1 值"
        case "$1" in
          --version) version=${2#v} ;;
          --prefix) prefix=$2 ;;
          --from) releases=${2%/} ;;
        esac
        shift
        ;;
      -h | --help)
        say 'install.sh [--version V] [--prefix DIR] [--from URL] [--require-signature]
install.sh --uninstall [--prefix DIR]' 'install.sh [--version 版本] [--prefix 目录] [--from 网址] [--require-signature]
install.sh --uninstall [--prefix 目录]'
        exit 0
        ;;
      *) die "unknown argument \`$1\`" "未知的参数 \`$1\`" 'see install.sh --help' '请看 install.sh --help' ;;
    esac
    shift
  done
  case "$version" in
    *[!0-9A-Za-z.+-]*) die "\`$version\` is not a version" "\`$version\` 不是版本号" 'write it like 0.1.0' '请写成 0.1.0 这样' ;;
  esac
  case "$prefix" in
    /?*) ;;
    *)
      die "the folder to install into must begin with \`/\`: \`$prefix\`" "安装目录必须以 \`/\` 开头：\`$prefix\`" \
        'name it with --prefix /path, or set HOME' '请用 --prefix /路径 指定，或设置 HOME'
      ;;
  esac
}

# What this release calls the machine.
find_system() {
  machine=$(uname -m)
  case "$machine" in
    x86_64 | amd64) machine=x86_64 ;;
    aarch64 | arm64) machine=aarch64 ;;
    *)
      die "there is no ChatOS for the processor $machine" "没有适用于处理器 $machine 的 ChatOS" \
        'x86_64 and aarch64 are supported; others can build from source' '支持 x86_64 和 aarch64；其他处理器可从源代码构建'
      ;;
  esac
  case "$(uname -s)" in
    Linux) system="$machine-linux" ;;
    Darwin) system="$machine-macos" ;;
    *)
      die "there is no ChatOS for $(uname -s)" "没有适用于 $(uname -s) 的 ChatOS" \
        'on Windows, run this in WSL2' '在 Windows 上请在 WSL2 中运行'
      ;;
  esac
}

# fetch FILE TARGET
fetch() {
  if [ -n "$version" ]; then address="$releases/download/v$version/$1"; else address="$releases/latest/download/$1"; fi
  if have curl; then
    # Only a server on this machine may be asked without encryption.
    case "$address" in
      http://127.0.0.1[:/]* | http://localhost[:/]*) curl -fsSL --retry 2 -o "$2" "$address" ;;
      *) curl -fsSL --retry 2 --proto '=https' -o "$2" "$address" ;;
    esac
  else
    wget -q -O "$2" "$address"
  fi
}

check_place() {
  have curl || have wget || die 'neither curl nor wget is here' '没有 curl 或 wget' 'install one of them' '请安装其中一个'
  case "$releases" in
    https://?* | http://127.0.0.1[:/]* | http://localhost[:/]*) ;;
    '')
      die 'this script does not know where releases are' '此脚本不知道发布的位置' \
        'take the one of a release, or name the place with --from https://…' '请使用发布中的脚本，或用 --from https://… 指定'
      ;;
    *)
      die "\`$releases\` is not an encrypted address" "\`$releases\` 不是加密的地址" 'use https' '请使用 https'
      ;;
  esac
}

sha256_of() {
  if have sha256sum; then
    sha256sum "$1" | cut -d ' ' -f 1
  elif have shasum; then
    shasum -a 256 "$1" | cut -d ' ' -f 1
  else
    openssl dgst -sha256 -r "$1" | cut -d ' ' -f 1
  fi
}

bad_signature() {
  die 'the signature of this release is not from ChatOS; nothing was installed' '此发布的签名不是 ChatOS 的；没有安装任何内容' \
    'somebody may have changed the files on the way: report it, and do not install' '文件可能在途中被篡改：请报告，不要安装'
}

# Ed25519 over the list of checksums, in minisign's form.
check_signature() {
  if [ -z "$public_key" ]; then
    unchecked 'this script was made without a key' '此脚本未带公钥'
    return
  fi
  fetch SHA256SUMS.minisig "$work/sums.minisig" || die 'this release has no signature; nothing was installed' \
    '此发布没有签名；没有安装任何内容' 'try again later, or choose another --version' '请稍后再试，或用 --version 选择其他版本'
  if have minisign; then
    minisign -Vq -P "$public_key" -m "$work/sums" -x "$work/sums.minisig" >/dev/null 2>&1 || bad_signature
  elif have openssl && have base64 && openssl version 2>/dev/null | grep -q '^OpenSSL [3-9]'; then
    # Two bytes of algorithm and eight of the key's id come first; both files must name the same key.
    printf '%s\n' "$public_key" | base64 -d >"$work/key" 2>/dev/null || bad_signature
    sed -n 2p "$work/sums.minisig" | base64 -d >"$work/signature" 2>/dev/null || bad_signature
    head -c 10 "$work/key" >"$work/key.id"
    head -c 10 "$work/signature" >"$work/signature.id"
    cmp -s "$work/key.id" "$work/signature.id" || bad_signature
    tail -c +11 "$work/signature" >"$work/signature.raw"
    {
      printf '\060\052\060\005\006\003\053\145\160\003\041\000'
      tail -c +11 "$work/key"
    } >"$work/key.der"
    openssl pkeyutl -verify -pubin -keyform DER -inkey "$work/key.der" -rawin -in "$work/sums" \
      -sigfile "$work/signature.raw" >/dev/null 2>&1 || bad_signature
  else
    unchecked 'neither minisign nor OpenSSL 3 is here' '没有 minisign 或 OpenSSL 3'
    return
  fi
  say 'The signature is good.' '签名正确。'
}

unchecked() {
  if [ -n "$require" ]; then
    die "the signature cannot be checked ($1); nothing was installed" "无法检查签名（$2）；没有安装任何内容" \
      'install minisign, or leave --require-signature out' '请安装 minisign，或不加 --require-signature'
  fi
  say "The signature was not checked: $1. The checksum is." "未检查签名：$2。校验和会检查。"
}

# Downloads, checks and unpacks; the program is then $work/chatos.
get_program() {
  fetch SHA256SUMS "$work/sums" || die "cannot download from $releases" "无法从 $releases 下载" \
    'check the connection and the version' '请检查网络连接和版本号'
  check_signature
  # zstd is a third smaller; gzip is everywhere.
  if have zstd; then ending=tar.zst; else ending=tar.gz; fi
  archive=$(sed -n "s/^[0-9a-f]\{64\}  \(chatos-[0-9A-Za-z.+-]*-$system\.$ending\)\$/\1/p" "$work/sums" | head -n 1)
  [ -n "$archive" ] || die "this release has no program for $system" "此发布没有适用于 $system 的程序" \
    'choose another --version, or build from source' '请用 --version 选择其他版本，或从源代码构建'
  if [ -n "$version" ] && [ "$archive" != "chatos-$version-$system.$ending" ]; then
    die "asked for $version, was given \`$archive\`; nothing was installed" "请求的是 $version，得到的是 \`$archive\`；没有安装任何内容" \
      'the server mixes releases up: report it' '服务器混淆了版本：请报告'
  fi
  fetch "$archive" "$work/archive" || die "cannot download $archive" "无法下载 $archive" \
    'check the connection and try again' '请检查网络连接后重试'
  expected=$(grep "  $archive\$" "$work/sums" | cut -d ' ' -f 1)
  if [ "$(sha256_of "$work/archive")" != "$expected" ]; then
    die "$archive is not what the release says; nothing was installed" "$archive 与发布不符；没有安装任何内容" \
      'the download was cut or changed on the way: try again, and report it if it stays' '下载中断或被篡改：请重试，若仍如此请报告'
  fi
  if [ "$ending" = tar.zst ]; then
    zstd -dqc --memory=64MB "$work/archive" | tar -xf - -C "$work"
  else
    gzip -dc "$work/archive" | tar -xf - -C "$work"
  fi
  mv "$work/${archive%."$ending"}/chatos" "$work/chatos"
}

install_program() {
  bin="$prefix/bin"
  mkdir -p "$bin" || die "cannot make $bin" "无法创建 $bin" 'choose a folder of yours with --prefix' '请用 --prefix 选择你自己的目录'
  new="$bin/.chatos.new.$$"
  trap 'rm -rf "$work" "$new"' EXIT
  cp "$work/chatos" "$new" || die "cannot write into $bin" "无法写入 $bin" 'choose a folder of yours with --prefix' '请用 --prefix 选择你自己的目录'
  chmod 755 "$new"
  told=$("$new" --version 2>&1) || die "the program does not start here: $told" "程序无法在此运行：$told" \
    'report it with the name of your system; nothing was installed' '请报告并附上系统名称；没有安装任何内容'
  # What was there is kept, as `chatos upgrade` does; the last step is one rename.
  if [ -f "$bin/chatos" ]; then
    rm -f "$bin/chatos.former"
    ln "$bin/chatos" "$bin/chatos.former" 2>/dev/null || cp -p "$bin/chatos" "$bin/chatos.former"
  fi
  mv -f "$new" "$bin/chatos"
  say "$told is installed: $bin/chatos" "已安装 $told：$bin/chatos"
  case ":${PATH:-}:" in
    *":$bin:"*) say 'Start it: chatos' '启动：chatos' ;;
    *)
      say "Start it: $bin/chatos" "启动：$bin/chatos"
      say "To type only \`chatos\`, add this to your shell's profile: export PATH=\"$bin:\$PATH\"" \
        "若想只输入 \`chatos\`，请在 shell 配置中加入：export PATH=\"$bin:\$PATH\""
      ;;
  esac
}

remove_program() {
  bin="$prefix/bin"
  if [ ! -e "$bin/chatos" ] && [ ! -e "$bin/chatos.former" ]; then
    say "ChatOS is not installed in $bin." "$bin 中没有安装 ChatOS。"
    return
  fi
  # A service would start a program that is not there any more; a running host would go on without it.
  if [ -x "$bin/chatos" ]; then
    "$bin/chatos" --quiet service remove >/dev/null 2>&1 || true
    "$bin/chatos" --quiet stop >/dev/null 2>&1 || true
  fi
  rm -f "$bin/chatos" "$bin/chatos.former"
  rmdir "$bin" "$prefix" 2>/dev/null || true
  say 'ChatOS is removed. What you made is still there; delete the folder ~/.chatos if you want it gone too.' \
    'ChatOS 已移除。你的数据仍在；如也想删除，请删除 ~/.chatos 目录。'
}

main() {
  read_arguments "$@"
  if [ -n "$uninstall" ]; then
    remove_program
    return
  fi
  find_system
  check_place
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  get_program
  install_program
}

# Read to its end before anything is done: a script that was cut on the way does nothing.
main "$@"
