import { canonicalPassword } from "../password-text.ts";

// Passwords that guessers try first, in lower case; endings of digits and signs are taken off before the comparison too.
const COMMON = new Set(
  `
password passwort passw0rd p@ssword p@ssw0rd pa55word pa$$word passwords password1 contraseña contrasena motdepasse
wachtwoord senha senhas parola haslo heslo salasana lösenord losenord passphrase passcode passkey mypassword
yourpassword thepassword newpassword oldpassword nopassword default changeme changethis changeit change letmein
letmeinnow letmein1 welcome welcome1 welcomeback willkommen bienvenue bienvenido hello hellohello hello123 helloworld
hallo hola bonjour admin admin1 admin123 adminadmin administrator administrador root rootroot toor superuser sysadmin
user username useruser guest guestguest demo demodemo test testtest tester testing test123 testuser temp temporary
temppass secret secrets secret1 topsecret mysecret supersecret login loginlogin access master masterkey qwerty qwertz
azerty qwertyu qwertyui qwertyuiop qwertzuiop azertyuiop qwerty1 qwerty12 qwerty123 qwe123 qweqwe qweasd qweasdzxc
qwaszx qazwsx qazwsxedc 1qaz2wsx 1qaz2wsx3edc 1q2w3e 1q2w3e4r 1q2w3e4r5t q1w2e3 q1w2e3r4 zaq12wsx zaq1zaq1 zxcvbn
zxcvbnm asdfgh asdfghj asdfghjkl asdasd asdf1234 asdfasdf poiuyt poiuytrewq lkjhgf mnbvcxz mnbvcx abcdef abcdefg
abcdefgh abcd1234 abc123 abcabc abc12345 a1b2c3 a1b2c3d4 aa123456 a123456 a12345 123456a 123abc 123qwe 12qwaszx
1234qwer qwer1234 iloveyou iloveu loveyou lovelove loveme lovely love123 teamo tequiero jetaime tiamo princess
princesa princesse prinzessin sunshine sunflower sonnenschein moonlight starlight rainbow summer winter spring autumn
sommer monday tuesday friday january february october november december football futbol fussball baseball basketball
softball hockey soccer soccer1 tennis golfer cricket rugby liverpool chelsea arsenal barcelona realmadrid juventus
manchester everton rangers celtic yankees cowboys lakers steelers packers patriots dolphins eagles raiders monkey
monkeys monkey1 dragon dragons dragonfly tigger tigers panther panthers lion lions wolf wolves bear bears eagle falcon
phoenix butterfly kitten kitty puppy doggie doggy snoopy garfield pokemon pikachu naruto sakura batman superman
spiderman ironman wolverine avengers starwars startrek skywalker jedi yoda matrix trinity neo gandalf frodo hobbit
merlin wizard hunter hunting ranger killer warrior warriors shadow shadows darkness death demon devil angel angels
angelo heaven jesus jesuschrist christ blessed faith church godisgood michael michelle jennifer jessica jordan jordan23
joshua daniel danielle david andrew anthony robert richard william thomas charles charlie george matthew justin
jonathan nicholas nicole samantha ashley amanda amber hannah heather stephanie melissa lauren rachel rebecca alexander
alexandra alexis andrea maria marina martin martina carlos roberto fernando francisco alejandro alejandra mercedes
ferrari porsche mustang corvette camaro harley yamaha honda toyota nissan bmwbmw audi computer internet network server
database system windows linux ubuntu apple google facebook twitter instagram youtube amazon microsoft oracle cisco
samsung nokia android iphone whatever nothing something anything everything freedom liberty forever together friends
friend family mother father mommy daddy sister brother babygirl babyboy sweetie sweetheart honey cookie cookies
chocolate cheese pepper ginger banana orange cherry peanut pumpkin coffee whiskey vodka beer money dollar cash million
lucky lottery casino poker player gamer gaming minecraft fortnite roblox counter counterstrike callofduty warcraft
worldofwarcraft leagueoflegends playstation nintendo xbox360 trustno1 trustnoone opensesame sesame abracadabra
correcthorsebatterystaple blink182 metallica nirvana slipknot eminem beatles rockstar rocknroll music guitar piano
purple yellow silver golden diamond crystal internet1 killme fuckyou fuckoff asshole bitch biteme pussy sexsex sexy
blowme boobs fucker azerty1 loulou doudou soleil chouchou amour bonheur marseille schatz schalke hallo123 ficken
master1 samsung1 computer1 superstar supergirl superman1 thunder lightning storm tornado hurricane volcano galaxy
universe rocket spaceship airplane captain pirate ninja samurai soldier marines army navy police doctor nurse teacher
student school college university london paris berlin madrid newyork chicago boston texas california florida america
canada mexico brasil brazil argentina colombia espana germany france italia poland russia india china japan authserve
`
    .trim()
    .split(/\s+/),
);

const SEQUENCES = [
  "01234567890123456789",
  "98765432109876543210",
  "abcdefghijklmnopqrstuvwxyz",
  "zyxwvutsrqponmlkjihgfedcba",
];
const FEWEST_CHARACTERS = 3;

/** Whether a guesser would try this password among the first: a common word, with or without an ending, or a pattern. */
export function isVeryCommon(password: string): boolean {
  const text = canonicalPassword(password).toLowerCase();
  const word = text.replace(/[\d\p{P}\p{S}]+$/u, "");
  if (COMMON.has(text) || COMMON.has(word)) return true;
  if (new Set(text).size < FEWEST_CHARACTERS) return true;
  return SEQUENCES.some((sequence) => sequence.includes(text));
}
