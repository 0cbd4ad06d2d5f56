# A module of NixOS. Put the secrets into /etc/authserve, readable by root only: jwt_secret (32 random bytes in base64),
# demo_password (from `authserve hash-password`) and webhook_secret. Secrets of other senders are in an environmentFile.
{ config, lib, pkgs, ... }:
let
  cfg = config.services.authserve;
  yaml = pkgs.formats.yaml { };
in
{
  options.services.authserve = {
    enable = lib.mkEnableOption "authserve";
    package = lib.mkOption {
      type = lib.types.package;
      default = pkgs.callPackage ./authserve.nix { };
      description = "The package, from authserve.nix of the release.";
    };
    settings = lib.mkOption {
      type = lib.types.attrsOf lib.types.str;
      default = { };
      example = { DEMO_EMAIL = "you@example.com"; TRUSTED_PROXIES = "127.0.0.1,::1"; };
      description = "Settings, without secrets.";
    };
    configuration = lib.mkOption {
      type = yaml.type;
      default = { };
      description = "The content of the configuration file.";
    };
    environmentFile = lib.mkOption {
      type = lib.types.nullOr lib.types.path;
      default = null;
      description = "A file of root with more settings, such as secrets of senders.";
    };
  };
  config = lib.mkIf cfg.enable {
    users.users.authserve = { isSystemUser = true; group = "authserve"; };
    users.groups.authserve = { };
    environment.systemPackages = [ cfg.package ];
    environment.etc."authserve/authserve.conf".text =
      lib.generators.toKeyValue { } ({ CONFIG_FILE = "/etc/authserve/authserve.yaml"; } // cfg.settings);
    environment.etc."authserve/authserve.yaml".source = yaml.generate "authserve.yaml" cfg.configuration;
    systemd.packages = [ cfg.package ];
    systemd.services.authserve = {
      wantedBy = [ "multi-user.target" ];
      restartTriggers = [ config.environment.etc."authserve/authserve.conf".source ];
      serviceConfig.EnvironmentFile = lib.mkIf (cfg.environmentFile != null) [ cfg.environmentFile ];
    };
  };
}
